package conversion_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/crdconvert/webhookd/conversion"
)

func ExampleParseObject() {
	obj, err := conversion.ParseObject([]byte(`{"spec": {"id": 9007199254740993}}`))
	fmt.Println(string(obj.JSON()), err)
	_, err = conversion.ParseObject([]byte(`[]`))
	fmt.Println(err != nil)
	// Output:
	// {"spec": {"id": 9007199254740993}} <nil>
	// true
}

// Unstructured is for libraries that take nothing else. The copy has exact integers.
func ExampleObject_Unstructured() {
	obj := mustParse(`{"kind":"Widget","spec":{"id":9007199254740993}}`)
	u, err := obj.Unstructured()
	fmt.Println(u.GetKind(), u.Object["spec"], err)
	// Output: Widget map[id:9007199254740993] <nil>
}

// A converter asks for the type of a value that it needs, since a fragment may have any.
func ExampleNode_Type() {
	obj := mustParse(`{"text":"a","size":3,"on":true,"gone":null,"all":[]}`)
	names, err := obj.Names()
	if err != nil {
		fmt.Println(err)
	}
	for _, name := range append(names, "none") {
		value, err := obj.Get(name)
		if err != nil {
			fmt.Println(err)
		}
		text, isText := value.Text()
		size, isInt := value.Int()
		on, isBool := value.Bool()
		fmt.Println(name, value.Type(), value.Exists(), text, isText, size, isInt, on, isBool)
	}
	// Output:
	// text a string true a true 0 false false false
	// size a number true  false 3 true false false
	// on a boolean true  false 0 false true true
	// gone null true  false 0 false false false
	// all a list true  false 0 false false false
	// none nothing false  false 0 false false false
}

func ExampleType() {
	for t := conversion.Absent; t <= conversion.Map; t++ {
		fmt.Print(t, ", ")
	}
	// Output: nothing, null, a boolean, a number, a string, a list, an object,
}

func ExampleNode_Get() {
	obj := mustParse(`{"spec":{"port":{"number":80}}}`)
	number, err := obj.Get("spec", "port", "number")
	fmt.Println(string(number.JSON()), number.Path(), err)
	other, err := obj.Get("spec", "other", "number")
	fmt.Println(other.Exists(), err)
	// Output:
	// 80 .spec.port.number <nil>
	// false <nil>
}

func ExampleNode_Set() {
	obj := mustParse(`{"spec":{"a":1}}`)
	fmt.Println(obj.Set(json.Number("1.10"), "spec", "ratio"))
	fmt.Println(obj.Set([]string{"x"}, "spec", "list"))
	fmt.Println(string(obj.JSON()))
	fmt.Println(obj.Set("c", "spec", "a", "b"))
	// Output:
	// <nil>
	// <nil>
	// {"spec":{"a":1,"ratio":1.10,"list":["x"]}}
	// is a number, not an object: .spec.a
}

func ExampleNode_Delete() {
	obj := mustParse(`{"spec":{"a":1}}`)
	fmt.Println(obj.Delete("spec", "a"), obj.Delete("spec", "b"), string(obj.JSON()))
	// Output: <nil> <nil> {"spec":{}}
}

func ExampleNode_Rename() {
	obj := mustParse(`{"spec":{"size":1e1}}`)
	moved, err := obj.Rename([]string{"spec", "size"}, []string{"spec", "storage", "size"})
	fmt.Println(moved, err, string(obj.JSON()))
	moved, err = obj.Rename([]string{"spec", "size"}, []string{"spec", "other"})
	fmt.Println(moved, err)
	// Output:
	// true <nil> {"spec":{"storage":{"size":1e1}}}
	// false <nil>
}

func ExampleNode_Elements() {
	obj := mustParse(`{"ports":[{"nr":80},{"nr":443}]}`)
	ports, err := obj.Get("ports")
	if err != nil {
		fmt.Println(err)
	}
	elements, err := ports.Elements()
	if err != nil {
		fmt.Println(err)
	}
	for _, port := range elements {
		if _, err := port.Rename([]string{"nr"}, []string{"number"}); err != nil {
			fmt.Println(err)
		}
		fmt.Println(port.Path())
	}
	fmt.Println(string(obj.JSON()))
	// Output:
	// .ports[0]
	// .ports[1]
	// {"ports":[{"number":80},{"number":443}]}
}

// Set takes nodes in other values: here some elements of a list, which keep their text.
func ExampleNode_MarshalJSON() {
	obj := mustParse(`{"ports":[{"nr":80},{"nr":4.43e2}]}`)
	ports, err := obj.Get("ports")
	if err != nil {
		fmt.Println(err)
	}
	elements, err := ports.Elements()
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(obj.Set(elements[1:], "ports"), string(obj.JSON()))
	// Output: <nil> {"ports":[{"nr":4.43e2}]}
}

func ExampleNode_Decode() {
	obj := mustParse(`{"spec":{"host":"a","port":80}}`)
	spec, err := obj.Get("spec")
	if err != nil {
		fmt.Println(err)
	}
	var into struct {
		Host string `json:"host"`
		Port int64  `json:"port"`
	}
	fmt.Println(spec.Decode(&into), into.Host, into.Port)
	// Output: <nil> a 80
}

// The message has the path and the remedy. It never has the value, which may be a secret.
func ExampleNode_Errorf() {
	obj := mustParse(`{"spec":{"hostPort":"local"}}`)
	value, err := obj.Get("spec", "hostPort")
	if err != nil {
		fmt.Println(err)
	}
	if text, _ := value.Text(); !strings.Contains(text, ":") {
		fmt.Println(value.Errorf("has no port, write HOST:PORT"))
	}
	// Output: has no port, write HOST:PORT: .spec.hostPort
}
