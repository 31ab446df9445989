"""Which deadlines stand above an entry point, and whose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent

import pytest
from resilint.model import Confidence
from resilint.run import Texts, link, read_program
from resilint.scope import Scope
from resilint.settings import load

Asked = Callable[[Mapping[str, str], str], list[tuple[float, str]]]

FLASK = """
    from flask import Flask

    app = Flask(__name__)


    @app.get("/x")
    def f():
        return "x"
"""


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    """Seconds and owner of the deadlines above a function of a small program, the smallest first."""

    def ask(files: Mapping[str, str], name: str = "f") -> list[tuple[float, str]]:
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(dedent(text), "utf-8")
        scope, settings, texts = Scope(tmp_path, tmp_path), load(tmp_path), Texts(tmp_path)
        program = link(read_program(scope, settings, texts), settings, texts)
        fn = next(fn for fn in program.functions() if fn.name == name)
        return [(above.seconds, above.text) for above in program.above.of(fn)]

    return ask


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("gunicorn.conf.py", "timeout = 40\n", [(40, "gunicorn's timeout")]),
        ("gunicorn.conf.py", "timeout = 40\nthreads = 4\n", []),
        ("gunicorn.conf.py", 'timeout = 40\nworker_class = "gthread"\n', []),
        ("gunicorn.conf.py", 'import os\ntimeout = int(os.environ.get("T", "40"))\n', []),
        ("gunicorn.conf.py", "timeout = 0\n", []),
        ("Procfile", "web: gunicorn --timeout 40 app:app\n", [(40, "gunicorn's timeout")]),
        ("Procfile", "web: gunicorn app:app\n", [(30, "gunicorn's timeout")]),
        ("Procfile", "web: gunicorn --threads 4 app:app\n", []),
        ("requirements.txt", "gunicorn==22.0\n", []),
        ("uwsgi.ini", "[uwsgi]\nharakiri = 25\n", [(25, "uWSGI's harakiri")]),
        ("deploy/uwsgi.ini", "[uwsgi]\nharakiri = 25\n", [(25, "uWSGI's harakiri")]),
    ],
)
def test_limits_of_the_worker(asked: Asked, path: str, text: str, found: list[tuple[float, str]]) -> None:
    assert asked({"app.py": FLASK, path: text}, "f") == found


def test_the_smallest_stands_first(asked: Asked) -> None:
    nginx = "server { location / { proxy_pass http://app; proxy_read_timeout 20s; } }\n"
    settings = "services: {app: {paths: ['**'], callers: {shop: {timeout: 2s, deadline: 5s}}}}\n"
    files = {"app.py": FLASK, "gunicorn.conf.py": "timeout = 40\n", "nginx.conf": nginx, "resilint.yaml": settings}
    assert asked(files, "f") == [
        (2, "the timeout of shop (declared)"),
        (20, "nginx's proxy_read_timeout"),
        (40, "gunicorn's timeout"),
    ]


def test_a_function_that_is_no_entry_has_none(asked: Asked) -> None:
    assert asked({"app.py": FLASK + "\n\n    def g():\n        pass\n", "gunicorn.conf.py": "timeout = 40\n"}, "g") == []


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("http://orders:8000", [(7, "nginx's proxy_read_timeout")]),
        ("http://orders-svc.shop.svc.cluster.local", [(7, "nginx's proxy_read_timeout")]),
        ("http://reports:8000", []),
        ("http://127.0.0.1:8000", []),
        ("http://$upstream", []),
    ],
)
def test_of_several_services_the_one_that_is_named(asked: Asked, target: str, found: list[tuple[float, str]]) -> None:
    other = FLASK.replace("def f()", "def other()")
    files = {
        "orders/app.py": FLASK,
        "orders/requirements.txt": "flask\n",
        "reports/app.py": other,
        "reports/requirements.txt": "flask\n",
        "edge/nginx.conf": f"server {{ location / {{ proxy_pass {target}; proxy_read_timeout 7s; }} }}\n",
    }
    assert asked(files, "f") == found


GO = """
    package main

    import (
        "net/http"
        "time"
    )

    func f(w http.ResponseWriter, r *http.Request) {}

    func main() {
        mux := http.NewServeMux()
        mux.HandleFunc("/f", f)
        %s
    }
"""


@pytest.mark.parametrize(
    ("serving", "found"),
    [
        ("(&http.Server{Handler: mux, WriteTimeout: 5 * time.Second}).ListenAndServe()", [5]),
        ("(&http.Server{Handler: mux}).ListenAndServe()", []),
        ("(&http.Server{Handler: http.NewServeMux(), WriteTimeout: 5 * time.Second}).ListenAndServe()", [5]),
        (
            "s := &http.Server{Handler: mux, WriteTimeout: 5 * time.Second}\n"
            "        t := &http.Server{Handler: http.NewServeMux(), WriteTimeout: time.Second}\n"
            "        go t.ListenAndServe(); s.ListenAndServe()",
            [5],
        ),
        ('(&http.Server{Handler: http.StripPrefix("/v1", mux), WriteTimeout: 5 * time.Second}).ListenAndServe()', [5]),
        (
            '(&http.Server{Handler: http.TimeoutHandler(mux, 3*time.Second, ""), WriteTimeout: 5 * time.Second}).ListenAndServe()',
            [3, 5],
        ),
    ],
)
def test_the_server_that_a_handler_is_mounted_on(asked: Asked, serving: str, found: list[float]) -> None:
    assert [seconds for seconds, _ in asked({"main.go": GO % serving}, "f")] == found


def test_the_only_server_is_less_sure(tmp_path: Path) -> None:
    text = GO % "(&http.Server{Handler: http.NewServeMux(), WriteTimeout: 5 * time.Second}).ListenAndServe()"
    (tmp_path / "main.go").write_text(dedent(text), "utf-8")
    scope, settings, texts = Scope(tmp_path, tmp_path), load(tmp_path), Texts(tmp_path)
    program = link(read_program(scope, settings, texts), settings, texts)
    fn = next(fn for fn in program.functions() if fn.name == "f")
    assert [above.confidence for above in program.above.of(fn)] == [Confidence.MEDIUM]
