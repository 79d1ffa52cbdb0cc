package hostile

import (
	"strconv"
	"strings"
)

// numberCases pin that a number leaves as the literal that came: where no rule touches it, and
// where a rule moves it.
func numberCases() []Case {
	cases := make([]Case, 0, 80)
	for _, literal := range literals() {
		cases = append(cases,
			Case{
				Set: Numbers, Name: shown(literal), Position: "untouched", Unsettled: beyondFloat64(literal),
				Request: Request{Body: fixed(review(holding(from, literal)))},
				Want:    converted(upgrade(), 1, fixed(success(holding(to, literal)))),
			},
			Case{
				Set: Numbers, Name: shown(literal), Position: "moved", Own: true,
				Request: Request{Body: fixed(reviewTo(reviewV1, ruledGroup+"/v2", gauge("v1", "size", literal)))},
				Want:    converted(pair{"Gauge." + ruledGroup, "v1", "v2"}, 1, fixed(success(gauge("v2", "amount", literal)))),
			},
		)
	}
	return cases
}

// beyondFloat64 is true of numbers that RFC 8259 lets a parser refuse, and that kube-apiserver does
// not send.
func beyondFloat64(literal string) bool {
	_, err := strconv.ParseFloat(literal, 64)
	return err != nil
}

func literals() []string {
	return []string{
		"0", "-0", "0.0", "-0.0", "1", "-1", "1.0", "1.10", "100.00", "0.1", "1e0", "1E0", "1e2", "1E+2", "1e-2", "10e-1",
		"2147483647", "2147483648", "-2147483649", "4294967296",
		"9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740993",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
		"18446744073709551615", "18446744073709551616", "1e18", "1e19", "1.7976931348623157e308", "1e309", "1e400", "-1e400", "4.9e-324", "1e-400",
		"0.1000000000000000055511151231257827", strings.Repeat("7", 100), "0." + strings.Repeat("1234567890", 20), "1e" + strings.Repeat("9", 50),
	}
}
