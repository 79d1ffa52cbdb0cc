package lsp

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// An encoding says what a client counts as a character of a line.
type encoding string

const (
	utf8Units  encoding = "utf-8"
	utf16Units encoding = "utf-16" // the default of the protocol
)

// lines returns the lines of a text without their breaks, as the protocol separates them.
func lines(text string) []string {
	return strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
}

// offset returns the byte of a line for a client's character. Beyond the line it is its end.
func (e encoding) offset(line string, character int) int {
	if e == utf8Units {
		at := max(0, min(character, len(line)))
		for at > 0 && at < len(line) && !utf8.RuneStart(line[at]) {
			at--
		}
		return at
	}
	units := 0
	for at, r := range line {
		if units >= character {
			return at
		}
		units += max(1, utf16.RuneLen(r))
	}
	return len(line)
}

// character is the reverse of offset.
func (e encoding) character(line string, offset int) int {
	if e == utf8Units {
		return offset
	}
	units := 0
	for _, r := range line[:offset] {
		units += max(1, utf16.RuneLen(r))
	}
	return units
}

// byteOf returns the byte of a line at a column of a finding, which counts characters from 1.
func byteOf(line string, column int) int {
	for at := range line {
		if column--; column < 1 {
			return at
		}
	}
	return len(line)
}

func (e encoding) span(text []string, line, from, to int) span {
	of := ""
	if line < len(text) {
		of = text[line]
	}
	from, to = min(from, len(of)), min(to, len(of))
	return span{position{line, e.character(of, from)}, position{line, e.character(of, to)}}
}
