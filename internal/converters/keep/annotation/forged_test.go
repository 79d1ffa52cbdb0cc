package annotation

import (
	"fmt"
	"strings"
	"testing"
)

// Annotations can be forged. A list that webhookd does not write is none.
func TestForgedListsAreRefused(t *testing.T) {
	t.Parallel()
	nested := func(levels int) string {
		const before, after = `{"length":1,"elements":{"0":{"was":"a","kept":[{"path":["x"],"list":`, `}]}}}`
		return strings.Repeat(before, levels-1) + `{"length":0}` + strings.Repeat(after, levels-1)
	}
	for name, test := range map[string]struct {
		list string
		read bool
	}{
		"elements in their order":     {`{"length":3,"elements":{"0":{"was":"a"},"2":{"was":"b"}}}`, true},
		"a negative index":            {`{"length":3,"elements":{"-1":{"was":"a"}}}`, false},
		"an index that is a name":     {`{"length":3,"elements":{"a":{"was":"a"}}}`, false},
		"an index that is too large":  {`{"length":3,"elements":{"9223372036854775808":{"was":"a"}}}`, false},
		"elements in another order":   {`{"length":3,"elements":{"2":{"was":"a"},"0":{"was":"b"}}}`, false},
		"an element twice":            {`{"length":3,"elements":{"1":{"was":"a"},"1":{"was":"b"}}}`, false},
		"the longest list":            {fmt.Sprintf(`{"length":%d}`, MaxElements), true},
		"a longer list":               {fmt.Sprintf(`{"length":%d}`, MaxElements+1), false},
		"a negative length":           {`{"length":-1}`, false},
		"a length that is a fraction": {`{"length":1.5}`, false},
		"a length that is a text":     {`{"length":"1"}`, false},
		"elements in an array":        {`{"length":1,"elements":[{"was":"a"}]}`, false},
		"a digest in capitals":        {`{"length":1,"elements":{"0":{"was":"A"}}}`, false},
		"an element without a digest": {`{"length":1,"elements":{"0":{"alike":"a"}}}`, false},
		"an empty digest":             {`{"length":1,"elements":{"0":{"was":""}}}`, false},
		"a likeness that is too long": {`{"length":1,"elements":{"0":{"was":"a","alike":"abcdef"}}}`, false},
		"kept values without paths":   {`{"length":1,"elements":{"0":{"was":"a","kept":[{"value":1}]}}}`, false},
		"an added element alone":      {`{"length":0,"added":[{"after":-1,"value":1}]}`, true},
		"one without a value":         {`{"length":0,"added":[{"after":-1}]}`, false},
		"another member":              {`{"length":0,"lone":[1]}`, false},
		"lists in lists":              {nested(MaxNested), true},
		"too many lists in lists":     {nested(MaxNested + 1), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept, taken := takeText(t, named(Names("spec", "l")), `{"list":`+test.list+`}`)
			if (len(kept) == 1) != test.read || taken != test.read {
				t.Errorf("%d entries, taken: %v", len(kept), taken)
			}
		})
	}
}
