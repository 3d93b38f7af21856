# Code and tests in one interpreter, as other checkers do it. The code can forge the report, which
# is why this is used only where it is asked for and says so in every answer.


class SameInterpreter:
    """What Channel is to the judge, without a channel."""

    def __init__(self, code, plain_only):
        self.code = code
        self.plain_only = plain_only
        self.module = None
        self.calls = 0
        self.called_s = 0.0
        self.ended = None
        self.unanswered = None

    def wait(self):
        self.module, why = load(self.code)
        if self.module is None:
            raise Gone("does_not_load", why)

    def value(self, path, args, kwargs):
        self.calls += 1
        started = perf_counter()
        try:
            value = entry_point(self.module, path)(*args, **kwargs)
            return decoded(encoded(value, {}), []) if self.plain_only else value
        except NoEntryPoint as error:
            self.unanswered = NoAnswer("no_entry_point", str(error))
        except NotAValue as error:
            self.unanswered = NoAnswer("not_a_value", str(error))
        finally:
            self.called_s += perf_counter() - started
        raise self.unanswered

    def last_call(self):
        return ""


def main():
    from binascii import a2b_base64

    text = everything(0).decode("utf-8")

    def judging():
        given = json_of(text)
        job, code = given["job"], a2b_base64(given["code_b64"])
        return judge(job, SameInterpreter(code, job["tests"]["kind"] == "call"))

    rest = memoryview(printed(report_of(judging)).encode("ascii"))
    while rest:
        rest = rest[os.write(CHANNEL, rest):]


main()
