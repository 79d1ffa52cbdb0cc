package rules_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// Recipes for the usual changes of a CRD, edited at one version where the other one says more.
func TestEditsOfRecipes(t *testing.T) {
	t.Parallel()
	recipeRows(t).hold(t)
}

// Each recipe has a row.
func TestEveryRecipeIsEdited(t *testing.T) {
	t.Parallel()
	all := recipeRows(t)
	for _, e := range recipes(t) {
		heading, _, _ := strings.Cut(e.name, ",")
		found := false
		for name := range all {
			found = found || strings.HasPrefix(name, heading+": ")
		}
		if !found {
			t.Errorf("no row is about the recipe %q", heading)
		}
	}
}

func recipes(t *testing.T) []example {
	t.Helper()
	page, err := os.ReadFile(recipesFile)
	if err != nil {
		t.Fatal(err)
	}
	return referenceExamples(t, page)
}

const recipesFile = "testdata/recipes.md"

// recipe is the world of an example below a heading, counted from 0. Both versions also
// have a .spec.note.
func recipe(t *testing.T, heading string, n int) world {
	t.Helper()
	for _, e := range recipes(t) {
		if !strings.HasPrefix(e.name, heading+", ") {
			continue
		}
		if n--; n < 0 {
			w := two(withNote(t, e.pair.beta), withNote(t, e.pair.v1), e.pair.rules)
			w.sets = e.pair.sets
			return w
		}
	}
	t.Fatalf("%s has no such example below %q", recipesFile, heading)
	return world{}
}

func withNote(t *testing.T, schema string) string {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(schema), &all); err != nil {
		t.Fatal(err)
	}
	childOf(all, "spec")["note"] = "string"
	return jsonOf(t, all)
}

func recipeRows(t *testing.T) rows {
	t.Helper()
	const rename, split, enum, list, union, drop, added = "Rename or move a field", "Split a string", "Change the values of an enum",
		"Turn a map into a list", "Convert a union", "Drop a field", "A field that only the new version has"
	return rows{
		rename + ": an object that was emptied stays, and gives way": {world: recipe(t, rename, 0), steps: []step{
			create("v1", `{spec: {schedule: s, policy: {}}}`), edit("v1beta1", `{spec: {image: i}}`),
			shows("v1", `{spec: {schedule: s, policy: {}, image: i}}`),
			edit("v1beta1", `{spec: {paused: true, cronSpec: t}}`), shows("v1", `{spec: {schedule: t, policy: {paused: true}, image: i}}`),
		}},
		rename + ": an object goes with all that is in it": {world: two("{spec: {storage: {class: string, sizeGB: integer}}}",
			"{spec: {volume: {class: string, sizeGiB: integer}}}", `
- {spoke: .spec.storage, hub: .spec.volume}
- {spoke: .spec.storage.sizeGB, hub: .spec.volume.sizeGiB}`), steps: []step{
			create("v1", `{spec: {volume: {class: fast, sizeGiB: 20}}}`), edit("v1beta1", `{spec: {storage: {sizeGB: 30}}}`),
			shows("v1", `{spec: {volume: {class: fast, sizeGiB: 30}}}`),
			edit("v1beta1", `{spec: {storage: null}}`), shows("v1", `{spec: {}}`),
		}},
		split + ": a text that is not two stays, and gives way": {world: recipe(t, split, 0), steps: []step{
			create("v1beta1", `{spec: {image: nginx}}`), edit("v1", `{spec: {note: x}}`), shows("v1beta1", `{spec: {image: nginx, note: x}}`),
			edit("v1", `{spec: {image: {repository: a, tag: b}}}`), shows("v1beta1", `{spec: {image: "a:b", note: x}}`),
		}},
		split + ": a part that is alone stays, and gives way": {world: recipe(t, split, 0), steps: []step{
			create("v1", `{spec: {image: {tag: b}}}`), edit("v1beta1", `{spec: {note: x}}`), shows("v1", `{spec: {image: {tag: b}, note: x}}`),
			edit("v1beta1", `{spec: {image: "c:d"}}`), shows("v1", `{spec: {image: {repository: c, tag: d}, note: x}}`),
		}},
		split + ": a text of three stays, and gives way": {world: recipe(t, split, 1), steps: []step{
			create("v1beta1", `{spec: {image: "a:b:c"}}`), edit("v1", `{spec: {note: x}}`), shows("v1beta1", `{spec: {image: "a:b:c", note: x}}`),
			edit("v1", `{spec: {image: {tag: d}}}`), shows("v1beta1", `{spec: {image: "a:d", note: x}}`),
			edit("v1", `{spec: {image: {tag: null}}}`), shows("v1beta1", `{spec: {image: a, note: x}}`),
		}},
		enum + ": a value moves": {world: recipe(t, enum, 0), steps: []step{
			create("v1beta1", `{spec: {strategy: Recreate}}`), edit("v1", `{spec: {strategy: RollingUpdate}}`),
			shows("v1beta1", `{spec: {strategy: Rolling}}`),
		}},
		enum + ": a value that only the hub has stays, and gives way": {world: recipe(t, enum, 0), steps: []step{
			create("v1", `{spec: {strategy: Canary}}`), edit("v1beta1", `{spec: {note: x}}`), shows("v1", `{spec: {strategy: Canary, note: x}}`),
			edit("v1beta1", `{spec: {strategy: Recreate}}`), shows("v1", `{spec: {strategy: Recreate, note: x}}`),
			edit("v1beta1", `{spec: {strategy: Rolling}}`), shows("v1", `{spec: {strategy: RollingUpdate, note: x}}`),
		}, storage: "v1"},
		list + ": the order stays": {world: recipe(t, list, 0), steps: []step{
			create("v1", `{spec: {env: [{name: b, value: "1"}, {name: a, value: "2"}]}}`), edit("v1beta1", `{spec: {env: {a: "3"}}}`),
			shows("v1", `{spec: {env: [{name: b, value: "1"}, {name: a, value: "3"}]}}`),
			edit("v1beta1", `{spec: {env: {b: null}}}`), shows("v1", `{spec: {env: [{name: a, value: "3"}]}}`),
		}},
		list + ": an element without a value stays, and gives way": {world: recipe(t, list, 0), steps: []step{
			create("v1", `{spec: {env: [{name: b}, {name: a, value: "2"}]}}`), edit("v1beta1", `{spec: {env: {a: "3"}}}`),
			shows("v1", `{spec: {env: [{name: b}, {name: a, value: "3"}]}}`),
			edit("v1beta1", `{spec: {env: {b: "1"}}}`), shows("v1", `{spec: {env: [{name: b, value: "1"}, {name: a, value: "3"}]}}`),
		}},
		union + ": the discriminator is that of the url": {world: recipe(t, union, 0), steps: []step{
			create("v1", `{spec: {type: HTTP, http: {url: b.git}}}`), edit("v1beta1", `{spec: {note: x}}`),
			shows("v1", `{spec: {type: HTTP, http: {url: b.git}, note: x}}`),
			edit("v1beta1", `{spec: {url: c.git}}`), shows("v1", `{spec: {type: Git, git: {url: c.git}, note: x}}`),
		}},
		drop + ": the field is gone, and nothing is kept": {world: recipe(t, drop, 0), steps: []step{
			create("v1beta1", `{spec: {image: a, selfLink: /x}}`), keepsNothing, edit("v1", `{spec: {image: b}}`), keepsNothing,
			shows("v1beta1", `{spec: {image: b}}`),
		}, storage: "v1"},
		added + ": it stays, and is what the rule says where it never was": {world: recipe(t, added, 0), steps: []step{
			create("v1", `{spec: {image: a, retries: 5}}`), edit("v1beta1", `{spec: {image: b}}`), shows("v1", `{spec: {image: b, retries: 5}}`),
		}},
		added + ": it is what the rule says": {world: recipe(t, added, 0), steps: []step{
			create("v1beta1", `{spec: {image: a}}`), shows("v1", `{spec: {image: a, retries: 3}}`),
			edit("v1beta1", `{spec: {image: b}}`), shows("v1", `{spec: {image: b, retries: 3}}`),
		}},
	}
}
