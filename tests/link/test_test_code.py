"""Test code is told by what it is written with, wherever it lies."""

from __future__ import annotations

import pytest
from resilint.facts import FileFacts
from resilint.knowledge import load
from resilint.link.test_code import TestCode
from resilint.read import go, java, python


@pytest.fixture(scope="module")
def known() -> TestCode:
    return TestCode(load().words)


def facts(kind: str, text: str) -> FileFacts:
    return go.read(text.encode()) if kind == "go" else java.read(text.encode())


@pytest.mark.parametrize(
    ("text", "test"),
    [
        ('package kit\nimport "testing"\nfunc Open(t *testing.T) {}', True),
        ('package kit\nimport "testing"\nfunc Open(name string, tb testing.TB) {}', True),
        ('package kit\nimport check "testing"\nfunc Open(t *check.T) {}', True),
        ('package kit\nimport "testing"\nfunc IsTest() bool { return testing.Testing() }', False),
        ('package kit\nimport "example.com/testing"\nfunc Open(t *testing.T) {}', False),
        ("package kit\nfunc Open(t *testing.T) {}", False),
    ],
)
def test_go_functions_that_take_a_test_are_tests(known: TestCode, text: str, test: bool) -> None:
    read = facts("go", text)
    assert known.is_test(read) is test
    assert known.is_ended("kit/kit.go", read) is test
    assert known.is_ended("kit/kit_test.go", read)


@pytest.mark.parametrize(
    ("imported", "test"),
    [
        ("org.junit.jupiter.api.Test", True),
        ("static org.junit.Assert.assertTrue", True),
        ("org.springframework.boot.test.context.SpringBootTest", True),
        ("org.junitreports.Writer", False),
        ("org.springframework.boot.SpringApplication", False),
    ],
)
def test_java_files_that_import_a_framework_of_tests_are_tests(known: TestCode, imported: str, test: bool) -> None:
    read = facts("java", f"package kit;\nimport {imported};\nclass Kit {{ }}")
    assert known.is_test(read) is test
    assert not known.is_ended("kit/Kit.java", read)


@pytest.mark.parametrize(
    ("text", "test"),
    [
        ("import unittest\n", True),
        ("from unittest import TestCase\n", True),
        ("import pytest\n", True),
        ("from django.test import TestCase\n", True),
        ("from unittest import mock\n", False),
        ("import unittest.mock\n", False),
        ("try:\n    import pytest\nexcept ImportError:\n    pytest = None\n", False),
        ("def check():\n    import pytest\n", False),
        ("from .unittest import TestCase\n", False),
        ("from service.unittest import TestCase\n", False),
    ],
)
def test_python_files_that_need_a_framework_of_tests_are_tests(known: TestCode, text: str, test: bool) -> None:
    read = python.read(text.encode())
    assert known.is_test(read) is test
    assert not known.is_ended("kit/kit.py", read)
