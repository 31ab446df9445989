"""Beans of XML as objects: what makes each, what it is given, who gets it."""

from __future__ import annotations

import pytest
from resilint import facts as f
from resilint.flow.values import Env, Flow, Num, Obj, Text, Thing
from resilint.flow.wiring import Wiring
from resilint.program import Program
from resilint.read import read
from resilint.settings import Settings

from .oracles.harness import linked

ROOT = "src/main/"
JOBS = """package com.acme;
public class Jobs {
    private int size;
    private Jobs next;
    public void setSize(int size) { this.size = size; }
    public void setNext(Jobs next) { this.next = next; }
    static class Inner {
        private int width;
        public void setWidth(int width) { this.width = width; }
    }
}
"""
MADE = """package com.acme;
public class Made {
    private final int size;
    public Made(String name, int size) { this.size = size; }
}
"""
FACTORY = """package com.acme;
public class Factory {
    private int size;
    public void setSize(int size) { this.size = size; }
    public static Jobs of(int size) { Jobs jobs = new Jobs(); jobs.setSize(size); return jobs; }
    public Jobs make() { Jobs jobs = new Jobs(); jobs.setSize(this.size); return jobs; }
    public Factory copy() { return new Factory(); }
}
"""
_SOURCES = {"Jobs": JOBS, "Made": MADE, "Factory": FACTORY}


def program(beans: str, more: dict[str, str] | None = None, settings: Settings | None = None) -> Program:
    """A program of the class above and a file of beans."""
    head = (
        '<beans xmlns="http://www.springframework.org/schema/beans" xmlns:p="http://www.springframework.org/schema/p" '
        'xmlns:c="http://www.springframework.org/schema/c" xmlns:util="http://www.springframework.org/schema/util">'
    )
    used = {name: text for name, text in _SOURCES.items() if name == "Jobs" or f"com.acme.{name}" in beans}
    files = {f"{ROOT}java/com/acme/{name}.java": text for name, text in used.items()} | {
        f"{ROOT}resources/beans.xml": f"{head}\n{beans}\n</beans>\n"
    }
    return linked(files | (more or {}), settings)


def made(found: Program, name: str) -> list[Thing]:
    """What a bean is."""
    wiring: Wiring = found.resolver.wiring
    where = found.names.modules[f"{ROOT}resources/beans.xml"]
    return [x.thing for bean in wiring.named(name, where) for x in wiring.made(bean)]


def field_of(found: Program, bean: str, name: str) -> set[object]:
    """The numbers, texts and settings that a field of a bean may hold."""
    out: set[object] = set()
    for thing in made(found, bean):
        assert isinstance(thing, Obj)
        at = f.Ref(0, 0, name)
        top = next(iter(found.names.modules.values())).functions[0]
        for flow in found.resolver.attributes((Flow(thing),), name, at, found.resolver.frame(top)):
            if isinstance(flow.thing, Num):
                out.add(flow.thing.number)
            elif isinstance(flow.thing, Text):
                out.add(flow.thing.whole)
            elif isinstance(flow.thing, Env):
                out.add(flow.thing.name)
            elif isinstance(flow.thing, Obj):
                out.add(flow.thing.type if isinstance(flow.thing.type, str) else flow.thing.type.name)
            else:
                out.add(type(flow.thing).__name__)
    return out


@pytest.mark.parametrize(
    "beans",
    [
        '<bean id="b" class="com.acme.Jobs"><property name="size" value="7"/></bean>',
        '<bean id="b" class="com.acme.Jobs"><property name="size"><value> 7 </value></property></bean>',
        '<bean id="b" class="com.acme.Jobs" p:size="7"/>',
        '<bean id="b" class="com.acme.Made"><constructor-arg value="x"/><constructor-arg value="7"/></bean>',
        '<bean id="b" class="com.acme.Made"><constructor-arg index="1" value="7"/><constructor-arg index="0" value="x"/></bean>',
        '<bean id="b" class="com.acme.Made"><constructor-arg name="size" value="7"/><constructor-arg value="x"/></bean>',
        '<bean id="b" class="com.acme.Made" c:size="7" c:name="x"/>',
        '<bean id="b" class="com.acme.Made" c:_1="7" c:_0="x"/>',
        '<bean id="b" class="com.acme.Factory" factory-method="of"><constructor-arg value="7"/></bean>',
        '<bean id="a" class="com.acme.Factory" p:size="7"/><bean id="b" factory-bean="a" factory-method="make"/>',
        '<bean id="t" abstract="true" p:size="7"/><bean id="b" class="com.acme.Jobs" parent="t"/>',
        '<bean id="t" abstract="true" p:size="1"/><bean id="b" class="com.acme.Jobs" parent="t" p:size="7"/>',
        '<bean id="t" class="com.acme.Jobs" abstract="true" p:size="7"/><bean id="u" parent="t"/><bean id="b" parent="u"/>',
    ],
)
def test_numbers(beans: str) -> None:
    assert field_of(program(beans), "b", "size") == {7}


def test_a_placeholder_stays_one() -> None:
    assert field_of(program('<bean id="b" class="com.acme.Jobs" p:size="${jobs.size:7}"/>'), "b", "size") == {"${jobs.size:7}"}


def test_names() -> None:
    found = program(
        '<bean id="a" name="x, y;z" class="com.acme.Jobs"/><alias name="y" alias="w"/><alias name="a" alias="v"/>'
        '<bean class="com.acme.Jobs$Inner" p:width="3"/>'
    )
    objects = {name: made(found, name) for name in ("a", "x", "z", "v", "w")}
    assert all(things == objects["a"] and len(things) == 1 for things in objects.values())
    assert field_of(found, "com.acme.Jobs$Inner", "width") == {3.0}
    assert made(found, "nobody") == []


def test_refs_and_inner_beans_are_objects() -> None:
    found = program(
        '<bean id="a" class="com.acme.Jobs" p:next-ref="b"/><bean id="b" class="com.acme.Jobs" p:next-ref="a"/>'
        '<bean id="c" class="com.acme.Jobs"><property name="next"><bean class="com.acme.Jobs" p:size="5"/></property></bean>'
    )
    (a,), (b,), (c,) = (made(found, name) for name in "abc")
    assert a != b
    assert isinstance(a, Obj) and isinstance(c, Obj)
    resolver = found.resolver
    top = found.names.modules[f"{ROOT}java/com/acme/Jobs.java"].functions[0]
    at = f.Ref(0, 0, "next")
    assert [x.thing for x in resolver.attributes((Flow(a),), "next", at, resolver.frame(top))] == [b]
    inner = resolver.attributes((Flow(c),), "next", at, resolver.frame(top))
    sizes = resolver.attributes(inner, "size", at, resolver.frame(top))
    assert [x.thing for x in sizes] == [Num(5)]


def test_a_bean_stands_where_its_element_stands() -> None:
    found = program('<bean id="a" class="com.acme.Jobs"\n  p:size="5"/>')
    (a,) = made(found, "a")
    assert isinstance(a, Obj) and isinstance(a.node, f.Call) and a.fn is not None
    span = found.span_of(a.fn, a.node)
    assert (span.path, span.line, span.col, span.end_line) == (f"{ROOT}resources/beans.xml", 2, 1, 3)


def test_what_is_not_said_here_is_not_known() -> None:
    found = program(
        '<bean id="orphan" parent="elsewhere" class="com.acme.Jobs"/><bean id="loop" parent="loop" class="com.acme.Jobs"/>'
        '<bean id="odd" class="${jobs.class}"/><bean id="ref" class="com.acme.Jobs" p:next-ref="nobody"/>'
        '<bean id="spel" class="com.acme.Jobs" p:size="#{2 * 3}"/>'
        '<bean id="bare" class="com.acme.Jobs"><property name="size"/></bean>'
    )
    assert [x.kind for x in made(found, "orphan") if isinstance(x, Obj)] == ["outside"]
    assert [x.kind for x in made(found, "loop") if isinstance(x, Obj)] == ["outside"]
    assert not any(isinstance(x, Obj) for x in made(found, "odd"))
    assert field_of(found, "spel", "size") == {"Unknown"}
    assert field_of(found, "bare", "size") == {"Unknown"}
    assert field_of(found, "ref", "next") == {"Jobs"}
    (reference,) = made(found, "ref")
    at = f.Ref(0, 0, "next")
    top = found.names.modules[f"{ROOT}java/com/acme/Jobs.java"].functions[0]
    handed = found.resolver.attributes((Flow(reference),), "next", at, found.resolver.frame(top))
    assert [x.thing.kind for x in handed if isinstance(x.thing, Obj)] == ["outside"]


def test_what_one_bean_is_given_is_not_another_ones() -> None:
    found = program('<bean id="a" class="com.acme.Jobs" p:size="1"/><bean id="b" class="com.acme.Jobs" p:size="2"/>')
    assert field_of(found, "a", "size") == {1}
    assert field_of(found, "b", "size") == {2}


@pytest.mark.parametrize("profile", [None, "prod", "dev"])
def test_profiles(profile: str | None) -> None:
    found = program(
        '<beans profile="dev, test"><bean id="a" class="com.acme.Jobs" p:size="1"/></beans>'
        '<beans profile="prod"><bean id="a" class="com.acme.Jobs" p:size="2"/></beans>',
        settings=Settings(profile=profile),
    )
    assert field_of(found, "a", "size") == {None: {1.0, 2.0}, "prod": {2.0}, "dev": {1.0}}[profile]


def test_a_file_that_changes() -> None:
    path = f"{ROOT}resources/beans.xml"
    parent = f"{ROOT}resources/parents.xml"
    found = program('<bean id="b" class="com.acme.Jobs" parent="t"/>', {parent: '<beans><bean id="t" abstract="true"/></beans>'})
    assert field_of(found, "b", "size") != {4.0}
    xml = b'<beans><bean id="t" abstract="true"><property name="size" value="4"/></bean></beans>'
    found.replace(parent, f.decode(read(xml, "xml")))
    assert field_of(found, "b", "size") == {4.0}
    found.replace(parent, None)
    assert field_of(found, "b", "size") != {4.0}
    found.replace(path, None)
    assert path not in found.names.modules


@pytest.mark.parametrize(
    "beans",
    [
        "".join(f'<bean id="b{i}" parent="b{i + 1}" class="com.acme.Jobs"/>' for i in range(300)),
        '<bean id="b" class="com.acme.Jobs"><property name="next">' * 60 + "</property></bean>" * 60,
        "<beans>" * 60 + '<bean id="b" class="com.acme.Jobs"/>' + "</beans>" * 60,
        '<bean id="b" class="com.acme.Jobs"><property name="all">' + "<list>" * 70 + "</list>" * 70 + "</property></bean>",
        "".join(f'<bean id="b{i}" factory-bean="b{(i + 1) % 9}" factory-method="copy"/>' for i in range(9))
        + '<bean id="c" class="com.acme.Factory"/>',
        '<bean id="this" name="1 super class" class="com.acme.Jobs" init-method="a b" p:9="x" p:a.b.c.d.e.f="1"/>',
        '<bean id="b" class="com..Jobs"/><bean class=""/><bean/><bean id="" class="a b"/><alias/><alias name="b"/>',
        '<bean id="b" class="com.acme.Jobs"><constructor-arg index="999999" value="1"/>'
        '<constructor-arg index="-1" value="2"/></bean>',
        '<bean id="b" class="com.acme.Jobs" factory-method="of.x"/><bean id="c" factory-method="of"/>'
        '<bean id="d" factory-bean="d"/>',
    ],
)
def test_hostile_files_end(beans: str) -> None:
    found = program(beans)
    wiring = found.resolver.wiring
    for module in found.names.modules.values():
        for fn in module.functions:
            assert fn.body.calls is not None
        for decl in module.beans.values():
            for name in sorted(decl.names):
                for bean in wiring.named(name, module):
                    wiring.made(bean)
    assert list(found.functions("java"))
