"""Which version of a library is pinned for a file: every kind of file that says so, the nearest first."""

from __future__ import annotations

from importlib import import_module

import pytest
from resilint.discover import kind_of_name
from resilint.facts import FileFacts
from resilint.link.versions import Pin, Versions, newest_within, said
from resilint.read import READERS


def versions(**files: str) -> Versions:
    return of(files)


def of(files: dict[str, str]) -> Versions:
    facts: dict[str, FileFacts] = {}
    for path, text in files.items():
        kind = kind_of_name(path)
        assert kind is not None, path
        facts[path] = FileFacts("text") if kind == "text" else import_module(READERS[kind]).read(text.encode())
    return Versions(facts, lambda path: files[path].encode())


def pinned(files: dict[str, str], path: str, language: str, *names: str) -> str | None:
    pin = of(files).pinned(path, language, names)
    if pin is None:
        return None
    written = files[pin.path].encode()[pin.at : pin.end].decode()
    assert pin.version in written or "$" in written or "ref" in written or pin.version.endswith("99999"), (pin, written)
    return pin.version


@pytest.mark.parametrize(
    ("specifier", "version"),
    [
        ("==4.5.1", "4.5.1"),
        ("===4.5.1", "4.5.1"),
        ("4.5.1", "4.5.1"),
        (" == 4.5.1 ", "4.5.1"),
        ("<=4.5", "4.5"),
        (">=4,<8", "7.99999"),
        (">=4,<8.0", "7.99999"),
        ("<4.5", "4.4.99999"),
        ("~=4.5.1", "4.5.99999"),
        ("~=4.5", "4.99999"),
        ("^4.5", "4.99999"),
        ("^0.4.5", "0.4.99999"),
        ("~4.5.1", "4.5.99999"),
        ("==4.*", "4.99999"),
        (">=4", None),
        ("!=4.1", None),
        ("", None),
        ("*", None),
        ("@ git+https://example.com/x", None),
        ("<0", None),
    ],
)
def test_specifiers(specifier: str, version: str | None) -> None:
    assert newest_within(specifier) == version


def test_a_limit_is_said_as_one() -> None:
    assert (said("4.5.1"), said("7.99999"), said("4.5.99999")) == ("4.5.1", "7.x", "4.5.x")


POETRY = '[[package]]\nname = "redis"\nversion = "5.0.1"\n\n[[package]]\nname = "typing-extensions"\nversion = "4.1"\n'
PIPENV = '{"default": {"redis": {"hashes": ["sha256:1"], "index": "pypi", "version": "==4.3.4"}, "six": {"version": "==1.0"}}}'


@pytest.mark.parametrize(
    ("path", "text", "version"),
    [
        ("requirements.txt", "-r base.txt\nredis[hiredis]==4.5.1 ; python_version > '3.7'  # cache\n", "4.5.1"),
        ("requirements-prod.txt", "Redis==4.5.1 --hash=sha256:aa\n", "4.5.1"),
        ("requirements/base.txt", "redis==4.5.1\n", "4.5.1"),
        ("requirements.txt", "redis\n", None),
        ("requirements.txt", "redis>=4,<5\nredis-py-cluster==2.1\n", "4.99999"),
        ("requirements.txt", "# redis==1.0\nfakeredis==2\n", None),
        ("pyproject.toml", '[project]\ndependencies = ["fastapi", "redis == 4.5.1"]\n', "4.5.1"),
        ("pyproject.toml", '[tool.poetry.dependencies]\nredis = "^4.5"\n', "4.99999"),
        ("pyproject.toml", '[tool.poetry.dependencies]\nredis = {version = "4.5.1", extras = ["hiredis"]}\n', "4.5.1"),
        ("setup.cfg", "[options]\ninstall_requires =\n    six\n    redis==4.5.1\n", "4.5.1"),
        ("Pipfile", '[packages]\nredis = "==4.5.1"\n', "4.5.1"),
        ("Pipfile", '[packages]\nredis = {extras = ["x"], version = "~=4.5.1"}\n', "4.5.99999"),
        ("poetry.lock", POETRY, "5.0.1"),
        ("uv.lock", POETRY, "5.0.1"),
        ("Pipfile.lock", PIPENV, "4.3.4"),
    ],
)
def test_python(path: str, text: str, version: str | None) -> None:
    assert pinned({path: text}, "app/main.py", "python", "redis") == version


def test_the_nearest_file_wins_and_a_lock_beside_it() -> None:
    files = {
        "requirements.txt": "redis==3.0\nsix==1.0\n",
        "api/requirements.txt": "redis==4.0\n",
        "api/requirements-dev.txt": "redis==9.0\n",
        "web/pyproject.toml": '[project]\ndependencies = ["redis==5.0"]\n',
        "web/uv.lock": POETRY,
        "job/requirements.txt": "redis\n",
    }
    assert pinned(files, "api/src/a.py", "python", "redis") == "4.0"
    assert pinned(files, "web/a.py", "python", "redis") == "5.0.1"
    assert pinned(files, "job/a.py", "python", "redis") == "3.0"
    assert pinned(files, "api/a.py", "python", "six") == "1.0"
    assert pinned(files, "apix/a.py", "python", "redis") == "3.0"
    assert pinned(files, "api/a.go", "go", "redis") is None


def test_names_are_tried_in_order_and_normalised() -> None:
    files = {"requirements.txt": "Typing_Extensions==4.1\nredis==4.0\n"}
    assert pinned(files, "a.py", "python", "missing", "typing.extensions", "redis") == "4.1"


def test_go() -> None:
    files = {
        "go.mod": "module example.com/app\n\ngo 1.22\n\nrequire github.com/lib/pq v1.10.9\nrequire (\n"
        "\tgithub.com/redis/go-redis/v9 v9.0.5 // indirect\n\tgithub.com/gocql/gocql v1.5.0\n)\n"
        "replace github.com/gocql/gocql => github.com/scylladb/gocql v1.14.4\n",
    }
    assert pinned(files, "store/a.go", "go", "github.com/lib/pq") == "v1.10.9"
    assert pinned(files, "a.go", "go", "github.com/redis/go-redis/v9/maintnotifications") == "v9.0.5"
    assert pinned(files, "a.go", "go", "github.com/gocql/gocql") == "v1.14.4"
    assert pinned(files, "a.go", "go", "github.com/lib/pqx") is None


PARENT = """<project><groupId>com.acme</groupId><artifactId>all</artifactId><version>1</version>
<parent><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-parent</artifactId><version>3.2.1</version></parent>
<properties><okhttp.version>4.9.3</okhttp.version><kafka>${kafka.real}</kafka><kafka.real>3.6.0</kafka.real></properties>
<dependencyManagement><dependencies>
<dependency><groupId>com.squareup.okhttp3</groupId><artifactId>okhttp</artifactId><version>${okhttp.version}</version></dependency>
<dependency><groupId>org.apache.commons</groupId><artifactId>commons-lang3</artifactId><version>3.12</version></dependency>
</dependencies></dependencyManagement></project>"""
CHILD = """<project><artifactId>api</artifactId><dependencies>
<dependency><groupId>com.squareup.okhttp3</groupId><artifactId>okhttp</artifactId></dependency>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-clients</artifactId><version>${kafka}</version></dependency>
<dependency><groupId>com.zaxxer</groupId><artifactId>HikariCP</artifactId><version>5.0.1</version></dependency>
<dependency><groupId>loop</groupId><artifactId>loop</artifactId><version>${a}</version></dependency>
</dependencies><properties><a>${b}</a><b>${a}</b></properties></project>"""


def test_maven_with_parents_properties_and_managed_versions() -> None:
    files = {"pom.xml": PARENT, "api/pom.xml": CHILD}
    source = "api/src/main/java/A.java"
    assert pinned(files, source, "java", "com.squareup.okhttp3") == "4.9.3"
    assert pinned(files, source, "java", "org.apache.kafka:kafka-clients") == "3.6.0"
    assert pinned(files, source, "java", "com.zaxxer.hikari") == "5.0.1"
    assert pinned(files, source, "java", "org.springframework.boot") == "3.2.1"
    assert pinned(files, source, "java", "org.apache.commons.dbcp2") is None
    assert pinned(files, source, "java", "loop") is None


GRADLE = """
plugins { id 'org.springframework.boot' version '2.7.5' }
ext { okhttpVersion = '4.10.0' }
dependencies {
    implementation "com.squareup.okhttp3:okhttp:$okhttpVersion"
    implementation group: 'org.apache.kafka', name: 'kafka-clients', version: kafkaVersion
    implementation 'com.zaxxer:HikariCP:5.1.0@jar'
    implementation("org.mongodb:mongodb-driver-sync:${mongoVersion}")
    implementation 'com.acme:dynamic:+'
}
"""
CATALOG = """
[versions]
okhttp = "4.11.0"
[libraries]
okhttp = { module = "com.squareup.okhttp3:okhttp", version.ref = "okhttp" }
hikari = "com.zaxxer:HikariCP:5.1.1"
kafka = { group = "org.apache.kafka", name = "kafka-clients", version = "3.5.0" }
"""


def test_gradle() -> None:
    files = {"build.gradle": GRADLE, "gradle.properties": "mongoVersion=4.9.1\n"}
    assert pinned(files, "src/A.java", "java", "com.squareup.okhttp3") == "4.10.0"
    assert pinned(files, "src/A.java", "java", "com.zaxxer.hikari") == "5.1.0"
    assert pinned(files, "src/A.java", "java", "org.mongodb") == "4.9.1"
    assert pinned(files, "src/A.java", "java", "org.springframework.boot") == "2.7.5"
    assert pinned(files, "src/A.java", "java", "org.apache.kafka:kafka-clients") is None
    assert pinned(files, "src/A.java", "java", "com.acme:dynamic") is None


def test_gradle_catalogs_and_locks() -> None:
    files = {"gradle/libs.versions.toml": CATALOG, "api/build.gradle.kts": 'implementation("com.zaxxer:HikariCP:5.0.0")\n'}
    assert pinned(files, "api/src/A.java", "java", "com.squareup.okhttp3") == "4.11.0"
    assert pinned(files, "api/src/A.java", "java", "com.zaxxer.hikari") == "5.0.0"
    assert pinned(files, "web/src/A.java", "java", "com.zaxxer.hikari") == "5.1.1"
    assert pinned(files, "web/src/A.java", "java", "org.apache.kafka:kafka-clients") == "3.5.0"
    files["api/gradle.lockfile"] = "# This is a Gradle generated file\ncom.zaxxer:HikariCP:5.0.7=compileClasspath\n"
    assert pinned(files, "api/src/A.java", "java", "com.zaxxer.hikari") == "5.0.7"


def test_nothing_is_read_before_it_is_asked_for() -> None:
    def refuse(path: str) -> bytes:
        raise AssertionError(path)

    found = Versions({"requirements.txt": FileFacts("text")}, refuse)
    assert found.pinned("a.go", "go", ("x",)) is None
    with pytest.raises(AssertionError):
        found.pinned("a.py", "python", ("x",))


def test_pins_say_where() -> None:
    pin = of({"requirements.txt": "six\nredis==4.0\n"}).pinned("a.py", "python", ("redis",))
    assert pin == Pin("redis", "4.0", "requirements.txt", 4, 14)
