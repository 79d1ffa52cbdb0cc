package hostile

import (
	"fmt"
	"strings"
)

// singleCharacters are those that some reader treats specially, alone and between letters.
func singleCharacters() []string {
	runes := make([]rune, 0, 256)
	for r := range rune(0x30) {
		runes = append(runes, r)
	}
	for r := rune(0x7f); r <= 0xa0; r++ {
		runes = append(runes, r)
	}
	runes = append(runes, 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x1680, 0x17b4, 0x180e, 0x3000, 0x3164, 0xfeff, 0xffa0, 0xfff9, 0xfffa, 0xfffb, 0xfffc,
		0xfffd, 0xfdd0, 0xfdef, 0xfffe, 0xffff, 0xe000, 0xf8ff, 0x1d173, 0x1fffe, 0xe0001, 0xe007f, 0xf0000, 0x10fffd, 0x10ffff)
	for r := rune(0x2000); r <= 0x200f; r++ {
		runes = append(runes, r)
	}
	for r := rune(0x2028); r <= 0x202f; r++ {
		runes = append(runes, r)
	}
	for r := rune(0x205f); r <= 0x206f; r++ {
		runes = append(runes, r)
	}
	texts := make([]string, 0, 2*len(runes))
	for _, r := range runes {
		texts = append(texts, string(r), "a"+string(r)+"b")
	}
	return texts
}

func wordsOfLanguages() []string {
	return []string{
		"", "null", "NULL", "nil", "None", "true", "FALSE", "yes", "No", "on", "off", "y", "n", "undefined", "NaN", "Infinity", "-Infinity", "inf", "void", "this",
		"constructor", "__proto__", "prototype", "toString", "hasOwnProperty", "then", "length", "default", "eval", "self", "object", "metadata", "kind",
		"apiVersion", "items", "status", "uid", "CON", "PRN", "AUX", "COM1", "LPT1", "nul", ".", "..", "~", "-", "--", "---", "...", "=", "*", "!", "!!str", "&a", "*a",
		"<<", "? a", "- a", "a: b", "a #b", "%YAML 1.2", "|", ">", "@", "`", "'", `"`, `\`, `\\`, "''", `""`, "[]", "{}", "()", "<>", "{", "}", "[", "]",
	}
}

func numbersInText() []string {
	return []string{
		"0", "-0", "+0", "00", "007", "1.0", "1.", ".1", "1e3", "1E400", "0x1F", "0o17", "0b1", "1_000", "1,000", "1.000,00", "1/0", "0/0", "--1", "9007199254740993",
		"9223372036854775808", "-9223372036854775809", "2147483648", "65536", "256", "1Gi", "1000m", "12:30:45", "1h30m", "2026-02-30", "2026-03-02T09:41:05Z", "24:60",
		"127.0.0.1", "256.1.1.1", "0177.1", "[::1]", "::", "fe80::1%25eth0", "\u0661\u0662\u0663", "\uff11\uff12", "\u2160", "\u00bd", "\u221e", "1\u00d710\u00b3",
	}
}

func markup() []string {
	return []string{
		"<b>", "<script>x(1)</script>", "<img src=x onerror=x(1)>", "<svg/onload=x(1)>", "javascript:x(1)", `"><i>`, "' onclick='x", "&lt;", "&#60;", "&#x3c;", "&amp;amp;",
		"<!--", "-->", "<![CDATA[x]]>", "<?php x(); ?>", "<%= x %>", "{{ x }}", "{% x %}", "{{constructor}}", "${x}", "#{x}", "@{x}", "*{x}", "[[x]]", "{{{x}}}",
		"<a href=\"data:text/html,x\">", "<style>*{}</style>", "</textarea>", "<iframe>", "\\u003cscript\\u003e", "%3Cscript%3E", "<x\x00>", "<\u212a>", "\uff1cb\uff1e",
		"<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///x'>]>", "# head", "[link](javascript:x)", "![i](x)", "*a*", "`a`", "~~~", "|a|b|", ":smile:", "@everyone", "<@1>",
	}
}

func commands() []string {
	return []string{
		"; ls", "| ls", "& ls", "&& ls", "|| ls", "`ls`", "$(ls)", "$((1+1))", "${IFS}", "$HOME", "%PATH%", "$env:PATH", "> /tmp/x", "< /etc/hosts", "2>&1", "\\$(ls)", "!!", "!ls",
		"-rf", "--help", "-", "*", "?", "[a-z]*", "~root", "a\nls", "a\r\nls", "a;b", "a'b", `a"b`, "a`b", "a\\", "a$", "() { :; }; x", "%0als", "\x1b[A", "' OR 1=1 --", "\" OR \"\"=\"",
		"1; DROP TABLE x", "1' UNION SELECT 1", "'; x --", "/* x */", "x'--", "%' x", "_%", "*)(x=*", "x*)(|(a=*))", "//*", "' or '1'='1", "{\"$gt\":\"\"}", "true, $where: 'x'",
		"=1+1", "+1+1", "-1+1", "@SUM(A1)", "=cmd|' /C x'!A0", "\t=1", "import os", "__import__('os')", "eval('1')", "require('x')", "${jndi:ldap://127.0.0.1/x}", "${${lower:j}ndi:x}",
	}
}

func formats() []string {
	return []string{
		"%s", "%d", "%n", "%x", "%p", "%v", "%+v", "%#v", "%T", "%!", "%", "%%", "%1$s", "%*d", "%.999999s", "%s%s%s%s%s%s", "%!s(MISSING)", "{0}", "{}", "{0!r}", "{a.b}", "$1", "\\1",
		`{"level":"error","msg":"x"}`, `","level":"error"`, `"}` + "\n" + `{"level":"error"}`, "\n{\"level\":\"error\"}\n", "level=error msg=x", "ERROR x", "panic: x", "goroutine 1 [running]:",
		"\r\nSet-Cookie: a=b", "a\r\n\r\nHTTP/1.1 200 OK", "a: b\r\n", "# HELP x", "webhookd_x_total{a=\"b\"} 1", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x1b[2J\x1b[H", "\u009b31m",
		"a\b\b\bb", "a\x7f", "\x07", "\x04", "\x1a", "a\x00b", "\x00", "\r", "\n", "\r\n", "\n\n\n", "a\vb", "a\fb", "\u0085", "\u2028", "\u2029",
	}
}

func paths() []string {
	return []string{
		"/", "//", "/etc/passwd", "../../../etc/passwd", "..\\..\\x", "/proc/self/environ", "/dev/null", "file:///x", "C:\\x", "\\\\host\\x", "x/../y", "./x", "x/.", "%2e%2e%2f", "..%c0%af",
		"%00", "x%00.json", "%25", "%", "%zz", "a b", "a?b", "a#b", "a&b=c", "a;b", "http://127.0.0.1/", "http://[::1]/", "http://a@b:c@d/", "//x", "\\x", "gopher://x", "ldap://x",
		"unix:///x", "a.b.c", "a/b", "a/b/c", "a~1b", "a~0b", "$.a[0]", ".a.b", "a[0]", "a['b']", "a[?(@.b)]", "/a/-", "#/a", "kube-system/x", "system:masters", "default/a,b/c",
	}
}

// writing is text of many scripts.
func writing() []string {
	return []string{
		"\u00e9", "e\u0301", "\u1e9b\u0323", "\u212b", "\u00c5", "\u017f", "\u0130", "\u0131", "\u00df", "\u1e9e", "\ufb01", "\u01c4", "\u0149", "\u03c2", "\u1f88", "\u0390",
		"\u05e9\u05dc\u05d5\u05dd", "\u0633\u0644\u0627\u0645", "\u0628\u064e\u0651", "\ufdfa", "\u0e01\u0e33\u0e49", "\u0915\u094d\u0937", "\u0ba8\u0bbf", "\u1019\u103c", "\u1100\u1161\u11a8", "\uac01",
		"\u4e2d\u6587", "\u3042\u30a2", "\uff76\uff9e", "\u9aa8\u76f4", "\U00020000", "\U0002a6d6", "\u0416\u0416", "\u0430dmin", "\u2126", "\u00b5", "\u2460", "\u24b6", "\U0001d400", "\U0001d7d8",
		"\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f44d\U0001f3fd", "\U0001f1e9\U0001f1ea", "\U0001f3f4\U000e0067\U000e0062\U000e007f", "1\ufe0f\u20e3", "\u2764\ufe0f", "\u2764\ufe0e",
		"a" + strings.Repeat("\u0301", 100), "\u0489" + strings.Repeat("\u0336", 50), "\u202eabc", "a\u202eb\u202cc", "\u2066a\u2067b\u2069", "\u200fa\u200e", "a\u200bb", "a\u2060b", "a\u00adb", "\ufeffa",
		"\u115fa", "\u2800", "\u3164", "\u00a0", "\u1680a", "\u180ea", "\u2800a", "\U000e0061", "\ue000", "\ufff9a\ufffab\ufffb", "\ufffc", "\u0600", "\u06dd", "\U000110bd", "\u0d4e", "\uaa7b",
	}
}

// layouts are white space and repetitions.
func layouts() []string {
	texts := make([]string, 0, 128)
	for _, s := range []string{" ", "\t", "\n", "\r\n", "\u00a0", "\u2003", "\u200b", "\x00"} {
		texts = append(texts, s+s, s+"a", "a"+s, s+"a"+s, "a"+s+s+"b")
	}
	for _, s := range []string{"\"", "\\", "/", "'", "<", "&", "%", "{", "[", "\u00e9", "\U0001f600"} {
		texts = append(texts, strings.Repeat(s, 17), s+"a"+s, "a"+s)
	}
	return texts
}

func longStrings() []string {
	texts := make([]string, 0, 64)
	for _, n := range []int{63, 64, 65, 127, 128, 253, 254, 255, 256, 257, 1023, 1024, 1025, 4096, 65535, 65536, 100 << 10} {
		texts = append(texts, strings.Repeat("x", n))
	}
	for i, s := range []string{"\u00e9", "\u20ac", "\U0001f600", "\x01", "\"", "\u202e", "a ", "a\n"} {
		texts = append(texts, strings.Repeat(s, 255), strings.Repeat(s, 1024), fmt.Sprintf("%d%s", i, strings.Repeat(s, 8192)))
	}
	return texts
}
