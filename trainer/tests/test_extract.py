"""From a completion to its code."""

import time
import unittest

from paddock.extract import code_blocks, last_code_block


class LastCodeBlockTest(unittest.TestCase):
    def test_the_last_python_block_is_taken(self):
        table = [
            ("one", "x\n```python\na = 1\n```\ny\n", "a = 1\n"),
            ("the last", "```python\na\n```\n```python\nb\n```\n", "b\n"),
            (
                "python before others",
                "```python\na\n```\nRun it:\n```bash\npython a.py\n```\n",
                "a\n",
            ),
            ("python before an unnamed one", "```py\na\n```\n```\n1 2 3\n```\n", "a\n"),
            ("an unnamed one else", "```\na\n```\n```sh\nb\n```", "a\n"),
            ("no block", "def f(): pass", "def f(): pass"),
            ("other languages only", "```cpp\nint x;\n```\n", ""),
            ("cut off", "```python\ndef f():\n    ret", "def f():\n    ret"),
            ("capital letters and attributes", '```Python title="a"\na\n```', "a\n"),
            ("tildes", "~~~python\n```\n~~~\n", "```\n"),
            ("longer fences", "````python\n```\nb\n```\n````\n", "```\nb\n```\n"),
            ("a fence within a string", "```python\ns = '```'\n```\n", "s = '```'\n"),
            ("an indented fence", "1. so\n   ```python\n   a\n   ```\n", "   a\n"),
            ("a fence that is code", "    ```python\n    a\n", "    ```python\n    a\n"),
            ("inline code", "```not a fence```\nx", "```not a fence```\nx"),
            ("carriage returns", "```python\r\na\r\n```\r\n", "a\r\n"),
            (
                "other ends of lines are code",
                "```python\ns = '\u2028```'\n```",
                "s = '\u2028```'\n",
            ),
            (
                "reasoning before",
                "<think>```python\nbad\n```</think>\n```python\ngood\n```",
                "good\n",
            ),
            ("one that was not closed before", "```python\nbad\n\n```python\ngood\n```", "good\n"),
            ("nothing", "", ""),
        ]
        for name, text, code in table:
            with self.subTest(name):
                self.assertEqual(last_code_block(text), code)

    def test_another_language_can_be_asked_for(self):
        text = "```python\na\n```\n```cpp\nb\n```\n"
        self.assertEqual(last_code_block(text, ("cpp", "c++")), "b\n")

    def test_blocks_have_their_language(self):
        blocks = [(block.language, block.code) for block in code_blocks("```C++\na\n```\n~~~\nb")]
        self.assertEqual(blocks, [("c++", "a\n"), ("", "b")])
        blocks = [
            (block.language, block.code) for block in code_blocks("```py\na\n```sh\nb\n```\n")
        ]
        self.assertEqual(blocks, [("py", "a\n"), ("sh", "b\n")])

    def test_a_hostile_text_takes_no_longer_than_its_length(self):
        for text in (
            "```" * 500_000,
            "```python\n" * 150_000,
            "`" * 1_500_000 + "\n" * 1000,
            " " * 1_500_000,
            "~~~\n```\n" * 150_000,
        ):
            began = time.monotonic()
            last_code_block(text)
            self.assertLess(time.monotonic() - began, 5)


if __name__ == "__main__":
    unittest.main()
