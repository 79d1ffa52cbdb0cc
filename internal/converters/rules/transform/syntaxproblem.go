package transform

import (
	"regexp"
	"strings"
)

// What CEL's parser says is its grammar's way to say it: antlr4's default error strategy.
var (
	wrongInput   = regexp.MustCompile(`^(?:mismatched|extraneous) input '(.*)' expecting (.*)$`)
	missingInput = regexp.MustCompile(`^missing (.*) at '(.*)'$`)
	noWayOn      = regexp.MustCompile(`^no viable alternative at input '(.*)'$`)
	noToken      = regexp.MustCompile(`^token recognition error at: '(.*)'$`)
)

const endOfInput = "<EOF>"

// syntaxProblem says in words what CEL's parser found.
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

// unexpected tells of a token that stands where others should; a set of those helps nobody.
func unexpected(token, expected string) string {
	one := !strings.HasPrefix(expected, "{") && expected != endOfInput
	switch {
	case token == endOfInput && one:
		return expected + " is missing at the end"
	case token == endOfInput:
		return "it ends too early"
	case one:
		return "'" + token + "' stands where " + expected + " should"
	}
	return "'" + token + "' cannot stand here"
}
