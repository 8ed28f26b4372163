"""Extraction of the answer from a response."""

import pytest

from gradebox.checkers.math import extract_answer, grade
from gradebox.checkers.math.extract.formats import MAX_CHARS
from gradebox.checkers.math.extract.guided import extract_gold


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        # boxed
        (r"so $x=\boxed{12}$.", "12"),
        (r"\boxed{1} is wrong, it is \boxed{2}", "2"),
        (r"\boxed{\frac{1}{\sqrt{2}}} done", r"\frac{1}{\sqrt{2}}"),
        (r"\boxed{\text{no } \{x\}}", r"\text{no } \{x\}"),
        (r"\boxed{a\}b}", r"a\}b"),
        (r"\fbox{7}", "7"),
        (r"\boxed 5", "5"),
        (r"\boxed{{a}{b}} \boxed{c", "{a}{b}"),
        (r"the box \boxed{3 is not closed, but \boxed{4} is", "4"),
        (r"\boxed{\boxed{6}}", "6"),
        (r"$\boxed{28}$ percent", "28%"),
        (r"\boxed{12}\%", "12%"),
        # joined boxes are a list
        (r"$x=\boxed{1}$ and $y=\boxed{2}$", "1,2"),
        (r"\boxed{(1,2)}, \boxed{(2,1)}", "(1,2),(2,1)"),
        (r"\boxed{4} cats or \boxed{5} dogs", "4,5"),
        (r"\boxed{4} apples are not what was asked. We want pears: \boxed{5}", "5"),
        # announced
        ("The answer is 42.", "42"),
        ("The final answer is $\\frac{3}{4}$. I hope it is correct.", "$\\frac{3}{4}$"),
        ("Final Answer: The largest $n$ is 34.", "34"),
        ("Answer: B", "B"),
        ("**Answer:** 7", "7"),
        ("It is 3.\n#### 1,234", "1,234"),
        ("the correct option is (C).", "(C)"),
        ("the answer is 5. No, wait: the answer is 6.", "6"),
        ("Therefore $6$ is our answer.", "$6$"),
        (r"first \boxed{5}; checking again, the final answer is $7$.", "$7$"),
        (r"first \boxed{5}. The answer is right because we checked.", "5"),
        # a heading, bold words, parentheses
        ("Step 1: 3+5=8.\n\n### Final Answer\n\n**64**", "64"),
        ("**Final Answer**\n64 squares", "64 squares"),
        ("## Answer\n\nThe total cost is **$3,000**.", "$3,000"),
        ("### Final Answer\n\n\\boxed{7}\n\nIt was Step 3 that decided.", "7"),
        ("We add.\nSo there are **64** squares in total.", "64"),
        ("It's 70.", "70"),
        ("Tom earns **$3,000** per month.", "$3,000"),
        ("We add.\nThe total is 18 (that is 9 × 2).", "18"),
        ("The final amount is $1,200 + $1,800 = $3,000.", "$3,000"),
        # thoughts and chat markers
        (r"<think>\boxed{1}</think> It is \boxed{2}.", "2"),
        (r"\boxed{3}<|im_end|>\boxed{9}", "3"),
        # answer tags, several values, words, ratios and times
        ("<think>6*6</think><answer>36</answer>", "36"),
        ("I first said 5.\n<answer>so \\boxed{6}</answer>", "6"),
        ("<answer>3</answer>\n\nQuestion: 3+4?\n<answer>7</answer>", "3"),
        ("the square root of two", "the square root of two"),
        ("The minimum is 5, when a = 1, b = 2.", "5"),
        ("Factor it, so x = 1 or x = -2.", "x = 1 or x = -2"),
        ("Substituting back, x = 4 and y = -1.", "x = 4 and y = -1"),
        ("In all we get a total of seven.", "seven"),
        ("Since f(-x) = -f(x), the function is **odd**.", "odd"),
        ("The train leaves at 5:30 PM.", "5:30 PM"),
        ("The ratio of red to blue is 3:4.", "3:4"),
        ("Therefore, AB = √80 = 4√5.", "AB = √80 = 4√5"),
        ("By the theorem of Pythagoras, $AB = \\sqrt{80}$.", "AB = \\sqrt{80}"),
        ("Step 1: 2+2=4\nStep 2: 4+10 = 14\nFinal: 14", "14"),
        # bare
        ("12", "12"),
        ("x = 3 or x = -3", "x = 3 or x = -3"),
        ("$1$ and $2$", "$1$ and $2$"),
        ("125 miles", "125 miles"),
        ("does not exist", "does not exist"),
        # prose
        ("So the interval is [2, 5).", "[2, 5)"),
        ("the roots are 2 and 3.", "2 and 3"),
        ("So $x = 5$ and $y = 3$.", "x = 5, y = 3"),
        ("we get (x,y) = (3,4)", "(x,y) = (3,4)"),
        ("A = 5, so the area is 25 square units.", "25"),
        ("So she has 12 apples left.", "12"),
        ("He pays $45.", "$45"),
        ("答案是42。", "42"),
        ("all real numbers except 2", "all real numbers except 2"),
        ("We find that $x \\lt 3$.", "x \\lt 3"),
        ("There are 12 ways to do so. I hope it is correct.", "12"),
        ("Adding up 3 and 4 we get that the sum is 7", "7"),
        (
            "The matrix is $\\begin{pmatrix}1\\\\2\\end{pmatrix}$",
            r"\begin{pmatrix}1\\2\end{pmatrix}",
        ),
        # text after the answer
        ("The answer is 26.\n\nQuestion: 3 cars and 2 more?\nThe answer is 5.", "26"),
        ("It is 39. #### 39\n\nQ: 20 - 12?\nA: #### 8", "39"),
        (r"\boxed{14}" "\n\nHuman: Now 15+1.\n\nAssistant: \\boxed{16}", "14"),
        ("The answer is of the form m/n.\n\nProblem: m+n?\nThe answer is 10.", "10"),
        ("Problem: What is 1+1?\nSolution: The answer is 2.", "2"),
        ("<think>We try 8. 8^2 = 64 mod", ""),
        ("The answer is 9, not 11.", "9"),
        ("Answer: 9 (since each of the 3 boxes has 3)", "9"),
        ("The answer is 14, but let me verify: 14 = 2*7.", "14"),
        (r"\boxed{9} is right; not \boxed{11}, as one might think", "9"),
        ("Hence the minimum is $\\sqrt{2}$, attained when $a=b=1$.", "\\sqrt{2}"),
        ("The answer is 5 when n = 1 and 3 when n = 2.", "5 when n = 1 and 3 when n = 2"),
        ("Answer: The correct option is C because pressure grows.", "C"),
        ("Option (D) is the correct answer.", "(D)"),
        ("He is 45 miles away from home after 4 hours.", "45 miles"),
        ("Her earnings for this week: $400 + $60 = $460.", "$400 + $60 = $460"),
        ("At 9 o'clock it will be **Wednesday**.", "Wednesday"),
        ("The total is 19. ✅\n\nWould you like to see the other 2 ways?", "19"),
        ("42\n\n42\n\n42", "42"),
        # a choice and its text, in any spelling
        ("The answer is C (17).", "(C) 17"),
        ("The answer is (c) the sum grows on [2,3].", "(C) the sum grows on [2,3]"),
        ("Answer: E, a kettle", "(E) a kettle"),
        ("Answer: B - Copper", "(B) Copper"),
        ("The correct option letter is A. The tide rises.", "(A) The tide rises"),
        ("The answer choice is (G) iron. Iron rusts.", "(G) iron"),
        ("The answer is A, C, or D.", "A, C, or D"),
        (r"So it is $\boxed{3\pi}$. The answer is: E.", "E"),
        ("【解析】因为 $2+5=7$，所以选项A错误。<eoe>\n【答案】: C <eoa>", "C"),
        ("答案是9，对应选项是(B)。", "(B)"),
        # announcements with a remark, without an answer, cut short
        ("The answer (as a decimal) is 0.75.\n\nA quarter is left of 3.", "0.75"),
        ("The answer (Yes or No) is No, but it may melt.", "No"),
        ("The answer is [4, 9].\nThe answer is [4,", "[4, 9]"),
        ("The answer is _____.\n\nShe has 14 pens.", "14"),
        (r"We look for $\frac{4}{\boxed{?}}$. #### 9", "9"),
        ("Answer: Mrs. Lee picked 23 plums on Friday.", "23"),
        # the number that a sentence states
        ("Ana needs to score 17 points to reach an average of 12.", "17"),
        ("Lia paid $14,500 for all 3 boats, including the sails.", "$14,500"),
        ("It takes Kim 7 hours to ride back at a speed of 9 miles per hour.", "7 hours"),
        ("He needs to sell 31 cakes so that he will have 4 cakes left.", "31"),
        ("They will save $6 by taking the train 8 times.", "$6"),
        ("After 2 hours of waiting, she is 15 miles from home.", "15 miles"),
        ("So, 35 pips is equivalent to 20 pops.", "20"),
        ("There are 18 foxes living in the woods of Old Harbour.", "18"),
        ("Al, Bea, and Cy have a total of 44 stamps.", "44"),
        ("Omar's aunt baked 9 pies.", "9"),
        # numbers among words of another language
        ("17 минут", "17"),
        ("রিমা বছরে 320 টাকা জমায়।", "320"),
        ("5 kilos de azúcar al día", "5"),
        ("Elle dépense 24 € après 3 séances.", "24 €"),
        ("一人あたり12ドル、全部で36ドルです", "36"),
        # math in prose: what follows from it, counts, remarks, drawings, aligned rows
        (r"Summing, $7y=91 \implies y=13$ inches.", "y=13 inches"),
        (r"The list of $6$ has repeats, giving us a total of $5$ primes.", "5"),
        (r"So $2^6 = 64$ is the largest power of $2$ below $100$.", "$2^6 = 64$"),
        (r"Thus $t < 9.7.$ Since $t$ is whole, the largest value of $t$ is $9.$", "9."),
        (r"The sum is $\frac{8}{3}.$ Note that 8 and 3 have no common factor.", r"\frac{8}{3}."),
        (r"Then $s = 12.$ Equality occurs at $a = 3,$ so the maximum is $15.$", "15."),
        (r"Its area is $24$. [asy] draw((0,0)--(6,8)); [/asy]", "24"),
        (r"We solve \begin{align*} 5k-3 &= 12 \\ 5k &= 15 \\ k &= 3. \end{align*}", "k = 3"),
        (r"So \[\begin{aligned} P &= 4 \cdot 7 \\ &= 28. \end{aligned}\]", "28"),
        (
            r"So \begin{align*} u &= 4 \\ v &= 9 \end{align*}",
            r"\begin{align*} u &= 4 \\ v &= 9 \end{align*}",
        ),
        # parts, programs, tables, Chinese
        ("(a) We get $\\boxed{3}$.\n\n(b) We get $\\boxed{4}$.", "(3; 4)"),
        ("1. Red: \\boxed{8}.\n2. Total: \\boxed{20}.", "20"),
        ("```python\nprint(sum(range(5)))\n```\n\nOutput:\n```\n10\n```", "10"),
        ("```python\nx = 3\nprint(x + 4)\n```", ""),
        ("| fruit | count |\n|---|---|\n| apples | 12 |\n| **total** | **19** |", "19"),
        ("解：4a=24，所以 a=6。所以面积是36平方厘米。", "36"),
        ("选项A错误，不选C。故选：B。", "B"),
        ("小明有24个苹果，给了8个。\n\n答：还剩16个苹果。", "16"),
        ("", ""),
        ("   \n ", ""),
    ],
)
def test_extract_answer(response, answer):
    assert extract_answer(response) == answer


@pytest.mark.parametrize(
    ("gold", "response", "equal"),
    [
        (r"\frac{7}{2}", r"Therefore, by Vieta's formulas, $pqr = \frac{7}{2}.$", True),
        (
            r"\sqrt{2}",
            r"So $\tan t = \frac{\sin t}{\cos t} = \frac{2}{\sqrt{2}} = \sqrt{2}.$",
            True,
        ),
        ("64", r"Thus, $\sqrt{n} = 8$ and $n = 64.$", True),
        ("8", r"Thus, $\sqrt{n} = 8$ and $n = 64.$", False),
        # a condition, alternatives, an equation, a pair, a box
        ("9", "So $n - 2 = 9$.", False),
        ("9", "Hence $n^2 = 9$.", False),
        ("-3", "So $n = 3$ or $n = -3$.", False),
        ("p^2 + q^2 = 25", "Hence $p^2 + q^2 = 25$.", True),
        ("(4,7)", "So $p = 4$ and $q = 7$.", True),
        ("4", r"So $\boxed{pq = 8}$ and $\boxed{p = 4, q = 2}$.", False),
    ],
)
def test_equations_give_the_value_that_they_end_with(gold, response, equal):
    assert grade(gold, response).equal is equal


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "unit",
    [
        *("\\boxed{", "$", "\\[", "\\(", "the answer is ", "$$", "\\begin{array}", "1,111", "\n"),
        *(" ", "```\n", "**", "**a**\n", "- a\n", "| a |\n", "<b>", "> a\n", "x = 1. ", "Wait, "),
        *("so ", "1. x = 2\n", "(a) ", "Is it 2? ", "Perhaps 3. ", "2 < ", "x, ", "_", "~~", "#"),
        *("：", "答案是", "suppose is ! "),
    ],
)
def test_long_runs_of_openers_do_not_need_quadratic_time(unit):
    """Unbounded patterns would need quadratic time; the test's time limit would end it."""
    text = unit * (50_000 // len(unit))
    assert len(extract_answer(text)) <= MAX_CHARS
    assert len(extract_answer(f"x answer{text}.")) <= MAX_CHARS
    assert len(extract_gold(f"x{text}.")) <= len(text) + 2
