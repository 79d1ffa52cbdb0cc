package transform_test

const wrongForm = "error: the value does not have the form that the codec takes"

func codecTest(name, codec, field, hub, claims string, conversions ...conversion) conversionTest {
	return conversionTest{
		name:    name,
		schemas: schemas{"a: {" + field + "}", "b: {" + hub + "}"},
		rule:    "{spoke: .spec.a, hub: .spec.b, codec: " + codec + "}",
		claims:  claims, conversions: conversions,
	}
}

func scalarCodecTests() []conversionTest {
	return []conversionTest{
		codecTest("String of an integer", "String", "type: integer", "type: string", "IT/It",
			conversion{`-9223372036854775808`, "->", `"-9223372036854775808"`}, conversion{`"42"`, "<-", `42`},
			conversion{`5.0`, "->", wrongForm}, conversion{`-0`, "->", wrongForm}, conversion{`"042"`, "<-", wrongForm},
			conversion{`"+1"`, "<-", wrongForm}, conversion{`" 1"`, "<-", wrongForm}, conversion{`""`, "<-", wrongForm},
			conversion{`"9223372036854775808"`, "<-", wrongForm}, conversion{`"\u0034"`, "<-", `4`}),
		codecTest("String of an integer the other way round", "String", "type: string", "type: integer", "It/IT",
			conversion{`"42"`, "->", `42`}, conversion{`42`, "<-", `"42"`}),
		codecTest("String of an integer, an enum", "String", "type: integer", `type: string, enum: ["1", "2"]`, "It/IT",
			conversion{`3`, "->", "error: the result is not a value that the schema allows"}, conversion{`"3"`, "<-", wrongForm}),
		codecTest("String of a number", "String", "type: number", "type: string", "iT/it",
			conversion{`1.50`, "->", `"1.5"`}, conversion{`1e21`, "->", `"1e+21"`}, conversion{`9007199254740993`, "->", `"9007199254740993"`},
			conversion{`"1.50"`, "<-", `1.5`}, conversion{`"18446744073709551616"`, "<-", `18446744073709552000`},
			conversion{`"1e999"`, "<-", "error: the value does not have the form that the codec takes"}, conversion{`".5"`, "<-", wrongForm}, conversion{`" 1"`, "<-", wrongForm}),
		codecTest("String of a number that is an integer", "String", "type: string", "type: integer", "It/IT",
			conversion{`"1.5"`, "->", wrongForm}, conversion{`"7"`, "->", `7`}),
		codecTest("String of a boolean", "String", "type: boolean", "type: string", "IT/It",
			conversion{`true`, "->", `"true"`}, conversion{`"false"`, "<-", `false`}, conversion{`"True"`, "<-", wrongForm}),
		codecTest("String of a boolean, an enum", "String", "type: boolean", `type: string, enum: ["true", "false"]`, "It/IT"),
		codecTest("String of any value", "String", "x-kubernetes-preserve-unknown-fields: true", "type: string", "It/It",
			conversion{`5`, "->", `"5"`}, conversion{`0.5`, "->", wrongForm}, conversion{`"5"`, "<-", `5`}),
		codecTest("String without zeros in the hub", "String, omitEmpty: Hub", "type: integer", "type: string, nullable: true", "It/it",
			conversion{`0`, "->", "error: the value is empty, and the rule leaves empty values out"}, conversion{`"0"`, "<-", `0`}),
		codecTest("String without zeros in the spoke", "String, omitEmpty: Spoke", "type: integer", "type: string", "iT/It",
			conversion{`"0"`, "<-", "error: the value is empty, and the rule leaves empty values out"}, conversion{`0`, "->", `"0"`}),
		codecTest("DurationSeconds", "DurationSeconds", "type: string", "type: integer", "it/It",
			conversion{`"90s"`, "->", `90`}, conversion{`90`, "<-", `"1m30s"`}, conversion{`"1h"`, "->", `3600`},
			conversion{`0`, "<-", `"0s"`}, conversion{`-5`, "<-", `"-5s"`}, conversion{`"1.5s"`, "->", wrongForm},
			conversion{`"90"`, "->", wrongForm}, conversion{`"1d"`, "->", `86400`},
			conversion{`"1w2d3h"`, "->", `788400`}, conversion{`"0d"`, "->", `0`}, conversion{`"1d12h30m"`, "->", `131400`},
			conversion{`"1d-1h"`, "->", wrongForm}, conversion{`"12h1d"`, "->", wrongForm}, conversion{`"9999w9999d1s"`, "->", `6911308801`},
			conversion{`"9999w9999d2562047h"`, "->", wrongForm}, conversion{`"10000w"`, "->", wrongForm}, conversion{`"1d\n"`, "->", wrongForm},
			// A text that Go cannot read as a duration is not converted, so it is kept.
			conversion{`9223372036`, "<-", `"2562047h47m16s"`}, conversion{`-9223372036`, "<-", `"-2562047h47m16s"`},
			conversion{`9223372037`, "<-", wrongForm}, conversion{`-9223372037`, "<-", wrongForm},
			conversion{`9460800000000`, "<-", wrongForm}, conversion{`9223372036854775807`, "<-", wrongForm},
			conversion{`-9223372036854775808`, "<-", wrongForm}, conversion{`9223372036854775808`, "<-", wrongForm},
			conversion{`"9223372036s"`, "->", `9223372036`}, conversion{`"2562047h47m16s"`, "->", `9223372036`},
			conversion{`"-9223372036s"`, "->", `-9223372036`}, conversion{`"9223372037s"`, "->", wrongForm},
			conversion{`"9999999h"`, "->", wrongForm}, conversion{`"-9999999h"`, "->", wrongForm},
			conversion{`"9223372036854775807s"`, "->", wrongForm}, conversion{`"99999999999999999999h"`, "->", wrongForm}),
		codecTest("DurationSeconds of int32", "DurationSeconds", "type: string", "type: integer, format: int32", "it/IT"),
		codecTest("DurationSeconds within bounds", "DurationSeconds", "type: string", "type: integer, minimum: 0, maximum: 9000000000", "it/IT"),
		codecTest("DurationSeconds without one bound", "DurationSeconds", "type: string", "type: integer, maximum: 90", "it/It"),
		codecTest("DurationNanoseconds", "DurationNanoseconds", "type: string", "type: integer", "it/IT",
			conversion{`"1m30s"`, "->", `90000000000`}, conversion{`90000000000`, "<-", `"1m30s"`}, conversion{`1500`, "<-", `"1.5µs"`},
			conversion{`-1`, "<-", `"-1ns"`}, conversion{`9223372036854775807`, "<-", `"2562047h47m16.854775807s"`}, conversion{`"90"`, "->", wrongForm}),
		codecTest("QuantityInt", "QuantityInt", "type: string", "type: integer, format: int64", "it/IT",
			conversion{`"10Gi"`, "->", `10737418240`}, conversion{`10737418240`, "<-", `"10Gi"`}, conversion{`"1k"`, "->", `1000`},
			conversion{`1000`, "<-", `"1000"`}, conversion{`"1e3"`, "->", `1000`}, conversion{`"100m"`, "->", wrongForm},
			conversion{`"1.5Ki"`, "->", `1536`}, conversion{`"1e999999999"`, "->", wrongForm}, conversion{`"x"`, "->", wrongForm},
			conversion{`""`, "->", wrongForm}, conversion{`"9Ei"`, "->", wrongForm}),
		codecTest("QuantityInt of int or string", "QuantityInt", "x-kubernetes-int-or-string: true", "type: integer", "it/IT",
			conversion{`5`, "->", `5`}, conversion{`5`, "<-", `"5"`}, conversion{`"1Ki"`, "->", `1024`}),
		codecTest("Base64", "Base64", "type: string, format: byte", "type: string", "it/It",
			conversion{`"aMOp"`, "->", `"hé"`}, conversion{`"hé"`, "<-", `"aMOp"`}, conversion{`""`, "<-", wrongForm}, conversion{`"aMOp\n"`, "->", `"hé"`},
			conversion{`"/w=="`, "->", wrongForm}, conversion{`"?"`, "->", wrongForm}),
		codecTest("Base64 where no schema says which side", "Base64", "type: string", "type: string", "It/it",
			conversion{`"a"`, "->", `"YQ=="`}, conversion{`""`, "->", `""`}),
	}
}

func textCodecTests() []conversionTest {
	const free = "type: object, x-kubernetes-preserve-unknown-fields: true"
	return []conversionTest{
		codecTest("JSON", "JSON", "type: string", free, "it/iT",
			conversion{`"{\"b\": 9007199254740993, \"a\": [1.50, {}]}"`, "->", `{"a":[1.5,{}],"b":9007199254740993}`},
			conversion{`{"b":9007199254740993, "a":[1.50, "\u0041"]}`, "<-", `"{\"a\":[1.50,\"A\"],\"b\":9007199254740993}"`},
			conversion{`"[]"`, "->", wrongForm}, conversion{`"{"`, "->", wrongForm}, conversion{`"{\"a\":1,\"a\":2}"`, "->", `{"a":2}`},
			conversion{`"{\"a\":1e999}"`, "->", wrongForm}, conversion{`"null"`, "->", wrongForm}, conversion{`"{}{}"`, "->", wrongForm}),
		codecTest("JSON of an object with known fields", "JSON", "type: object, properties: {x: {type: integer}}", "type: string", "iT/it",
			conversion{`"{\"x\":1}"`, "<-", `{"x":1}`}, conversion{`"{\"y\":1}"`, "<-", wrongForm},
			conversion{`"{\"x\":\"1\"}"`, "<-", wrongForm}),
		codecTest("JSON of a list", "JSON", "type: array, items: {type: string}", "type: string", "iT/it",
			conversion{`["a","b"]`, "->", `"[\"a\",\"b\"]"`}),
		codecTest("YAML", "YAML", "type: string", free, "it/iT",
			conversion{`"# note\na: 9007199254740993\nb:\n- yes\n- 1.50\n"`, "->", `{"a":9007199254740993,"b":[true,1.5]}`},
			conversion{`{"b":["yes","1"],"a":9007199254740993}`, "<-", `"a: 9007199254740993\u000ab:\u000a- \"yes\"\u000a- \"1\"\u000a"`},
			conversion{`"a: 1\na: 2"`, "->", wrongForm}, conversion{`"a: [1"`, "->", wrongForm}, conversion{`""`, "->", wrongForm},
			conversion{`"just text"`, "->", wrongForm}),
	}
}
