"""Translate Chinese units, numbers and the usual answers in words.

`12平方厘米` → `12 square cm`      `第二象限` → `second quadrant`      `十二` → `12`
"""

from __future__ import annotations

import re

from gradebox.checkers.math.normalise.tables import TEXT_CLOSE, TEXT_OPEN

# (Chinese, English) pairs; a longer name is tried before its parts
_UNITS = {
    "厘米": "cm",
    "公分": "cm",
    "毫米": "mm",
    "分米": "decimeter",
    "千米": "km",
    "公里": "km",
    "米": "m",
    "千克": "kg",
    "公斤": "kg",
    "毫克": "mg",
    "克": "g",
    "吨": "ton",
    "毫升": "ml",
    "升": "liter",
    "小时": "hour",
    "分钟": "min",
    "秒": "s",
    "天": "day",
    "周": "week",
    "个月": "month",
    "年": "year",
    "元": "yuan",
    "角": "jiao",
    "分": "fen",
    "美元": "dollar",
    "公顷": "hectare",
}
_WORDS = {
    "单调递增函数": "increasing function",
    "单调递减函数": "decreasing function",
    "增函数": "increasing function",
    "减函数": "decreasing function",
    "单调递增": "increasing",
    "单调递减": "decreasing",
    "递增": "increasing",
    "递减": "decreasing",
    "奇函数": "odd function",
    "偶函数": "even function",
    "非奇非偶函数": "neither even nor odd",
    "充分不必要条件": "sufficient but not necessary",
    "必要不充分条件": "necessary but not sufficient",
    "充要条件": "necessary and sufficient",
    "充分必要条件": "necessary and sufficient",
    "既不充分也不必要条件": "neither sufficient nor necessary",
    "等腰三角形": "isosceles triangle",
    "直角三角形": "right triangle",
    "等边三角形": "equilateral triangle",
    "等腰直角三角形": "isosceles right triangle",
    "钝角三角形": "obtuse triangle",
    "锐角三角形": "acute triangle",
    "平行四边形": "parallelogram",
    "矩形": "rectangle",
    "长方形": "rectangle",
    "正方形": "square",
    "菱形": "rhombus",
    "梯形": "trapezoid",
    "抛物线": "parabola",
    "椭圆": "ellipse",
    "双曲线": "hyperbola",
    "圆": "circle",
    "平行": "parallel",
    "垂直": "perpendicular",
    "相交": "intersecting",
    "相切": "tangent",
    "相离": "disjoint",
    "无解": "no solution",
    "空集": "no solution",
    "不存在": "does not exist",
    "无穷多个": "infinitely many",
    "正确": "true",
    "错误": "false",
    "不正确": "false",
    "是": "yes",
    "否": "no",
    "不是": "no",
    "对": "true",
    "错": "false",
    "东": "east",
    "西": "west",
    "南": "south",
    "北": "north",
    "偶数": "even",
    "奇数": "odd",
    "全体实数": "all real numbers",
    "第一象限": "first quadrant",
    "第二象限": "second quadrant",
    "第三象限": "third quadrant",
    "第四象限": "fourth quadrant",
    "甲": "A",
    "乙": "B",
    "丙": "C",
    "丁": "D",
    **{
        f"{week}{day}": name
        for week in ("星期", "周", "礼拜")
        for day, name in zip(
            "一二三四五六日天",
            (
                "Monday",
                "Tuesday",
                "Wednesday",
                "Thursday",
                "Friday",
                "Saturday",
                "Sunday",
                "Sunday",
            ),
            strict=True,
        )
    },
}
_DIGITS = {**{c: i for i, c in enumerate("零一二三四五六七八九")}, "两": 2, "〇": 0}
_SCALES = {"十": 10, "百": 100, "千": 1000}
_CHINESE = re.compile("[\u4e00-\u9fff]")
_NUMBER = re.compile("负?[零一二三四五六七八九两〇十百千]{1,9}")
_POWERS = {"平方": "square ", "立方": "cubic ", "": ""}
_UNIT_NAMES = "|".join(sorted(_UNITS, key=len, reverse=True))
_UNIT = re.compile(rf"(?<=[\d}})$π])\s*\$?\s*(平方|立方)?({_UNIT_NAMES})(?:每({_UNIT_NAMES}))?")
_COUNTER = re.compile(
    "(?<=[\\d}$])\\s*(?:个|种|人|名|位|只|本|张|件|支|块|条|次|组|题|道|辆|棵|朵|页|岁|双|对|套|倍)$"
)


_PARTICLES = re.compile(
    r"^(?:它|这|该(?:函数|数列|命题))?(?:是|为)(?:一个)?|(?<=分)而|而(?=不)|(?:三角形|函数)?[的]$|^.{1,12}[:：]"
)


def translate(text: str) -> str:
    """Return an answer with its Chinese words in English; what is not in the tables stays."""
    if _CHINESE.search(text) is None:
        return text
    plain = text.strip(" 。.，$")
    plain = re.sub(r"^\\text\{(.*)\}$", r"\1", plain)
    plain = _PARTICLES.sub("", plain) if len(plain) > 1 and plain not in _WORDS else plain
    if plain in _WORDS:
        return _WORDS[plain]
    if plain + "条件" in _WORDS:
        return _WORDS[plain + "条件"]
    if _NUMBER.fullmatch(plain):
        return str(_number(plain))
    text = re.sub(r"\\text\{\s*([^{}]*[\u4e00-\u9fff][^{}]*)\}", r"\1", text)
    text = _UNIT.sub(_unit, text)
    return _COUNTER.sub("", text)


def _unit(m: re.Match[str]) -> str:
    per = f" per {_UNITS[m[3]]}" if m[3] else ""
    return f" {TEXT_OPEN}{_POWERS[m[1] or '']}{_UNITS[m[2]]}{per}{TEXT_CLOSE}"


def _number(text: str) -> int:
    """Return 24 for 二十四."""
    total, digit = 0, 0
    for c in text.lstrip("负"):
        if c in _SCALES:
            total += (digit or 1) * _SCALES[c]
            digit = 0
        else:
            digit = digit * 10 + _DIGITS[c]
    return (total + digit) * (-1 if text.startswith("负") else 1)
