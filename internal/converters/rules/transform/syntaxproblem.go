package transform

import (
	"regexp"
	"strings"
)

// CEL's parser reports errors in the words of antlr4's default error strategy.
var (
	wrongInput   = regexp.MustCompile(`^(?:mismatched|extraneous) input '(.*)' expecting (.*)$`)
	missingInput = regexp.MustCompile(`^missing (.*) at '(.*)'$`)
	noWayOn      = regexp.MustCompile(`^no viable alternative at input '(.*)'$`)
	noToken      = regexp.MustCompile(`^token recognition error at: '(.*)'$`)
)

const endOfInput = "<EOF>"

// syntaxProblem puts an error of CEL's parser into words.
func syntaxProblem(message string) string {
	if m := wrongInput.FindStringSubmatch(message); m != nil {
		return unexpected(m[1], m[2])
	}
	if m := missingInput.FindStringSubmatch(message); m != nil {
		if m[2] == endOfInput {
			return m[1] + " is missing at the end"
		}
		return m[1] + " is missing before '" + m[2] + "'"
	}
	if m := noWayOn.FindStringSubmatch(message); m != nil {
		return "nothing that can follow '" + m[1] + "'"
	}
	if m := noToken.FindStringSubmatch(message); m != nil {
		if strings.ContainsAny(m[1][:min(1, len(m[1]))], "'\"`") {
			return "a string that does not end, or has an escape that CEL does not know"
		}
		return "characters that mean nothing: " + m[1]
	}
	return message
}

// unexpected describes an unexpected token. A set of expected tokens would not help the reader.
func unexpected(token, expected string) string {
	one := !strings.HasPrefix(expected, "{") && expected != endOfInput
	switch {
	case token == endOfInput && one:
		return expected + " is missing at the end"
	case token == endOfInput:
		return "it ends too early"
	case one:
		return "'" + token + "' where " + expected + " is expected"
	}
	return "'" + token + "' is not allowed here"
}
