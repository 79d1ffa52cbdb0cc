package rules_test

import "testing"

// K1: a computed value follows what it is computed from. No kept value hides an edit.
func TestEditsOfUnionsAreSeen(t *testing.T) {
	t.Parallel()
	unionRows().hold(t)
}

// union is that of testdata/recipes.md, with an unrelated field.
func union() world {
	return two("{spec: {url: string, note: string}}",
		"{spec: {type: enum Git HTTP, git: {url: string}, http: {url: string}, note: string}}", `
- {spoke: .spec.url, hub: .spec.git.url, whenToHub: self.endsWith(".git"), whenToSpoke: object.spec.type == "Git"}
- {spoke: .spec.url, hub: .spec.http.url, whenToHub: '!self.endsWith(".git")', whenToSpoke: object.spec.type == "HTTP"}
- {hub: .spec.type, toHub: 'object.spec.url.endsWith(".git") ? "Git" : "HTTP"'}`)
}

func unionRows() rows {
	const odd = `{spec: {type: HTTP, http: {url: b.git}}}` // its url would be that of a Git by the rules
	return rows{
		"a url that is edited takes the discriminator along": {world: union(), steps: []step{
			create("v1", odd), edit("v1beta1", `{spec: {url: c.git}}`),
			shows("v1", `{spec: {type: Git, git: {url: c.git}}}`), shows("v1beta1", `{spec: {url: c.git}}`),
		}},
		"and so does one of the other branch": {world: union(), steps: []step{
			create("v1", odd), edit("v1beta1", `{spec: {url: c.tar}}`), shows("v1", `{spec: {type: HTTP, http: {url: c.tar}}}`),
		}},
		"a url that is removed takes all of the union along": {world: union(), steps: []step{
			create("v1", odd), edit("v1beta1", `{spec: {url: null}}`), shows("v1", `{spec: {}}`),
		}},
		"an edit next to a union leaves it": {world: union(), steps: []step{
			create("v1", odd), edit("v1beta1", `{spec: {note: x}}`), shows("v1", `{spec: {type: HTTP, http: {url: b.git}, note: x}}`),
		}},
		"a url that is edited there and back is as it was": {world: union(), steps: []step{
			create("v1", odd), edit("v1beta1", `{spec: {url: c.git}}`), edit("v1beta1", `{spec: {url: b.git}}`),
			shows("v1beta1", `{spec: {url: b.git}}`),
		}},
		"a url fills a branch that was empty": {world: union(), steps: []step{
			create("v1", `{spec: {type: Git, git: {}}}`), edit("v1beta1", `{spec: {url: a.git}}`),
			shows("v1", `{spec: {type: Git, git: {url: a.git}}}`),
		}},
		"a url of another branch leaves no empty one": {world: union(), steps: []step{
			create("v1", `{spec: {type: Git, git: {}}}`), edit("v1beta1", `{spec: {url: a.tar}}`),
			shows("v1", `{spec: {type: HTTP, http: {url: a.tar}}}`),
		}},
		"an empty branch comes back": {world: union(), steps: []step{
			create("v1", `{spec: {type: Git, git: {}}}`), edit("v1beta1", `{spec: {note: x}}`),
			shows("v1", `{spec: {type: Git, git: {}, note: x}}`),
		}},
		"a discriminator without a branch goes when another is chosen": {world: union(), steps: []step{
			create("v1", `{spec: {type: Git}}`), edit("v1beta1", `{spec: {url: a.tar}}`),
			shows("v1", `{spec: {type: HTTP, http: {url: a.tar}}}`),
		}},
		"two branches at once come back": {world: union(), steps: []step{
			create("v1", `{spec: {type: Git, git: {url: a.git}, http: {url: a.tar}}}`), edit("v1beta1", `{spec: {note: x}}`),
			shows("v1", `{spec: {type: Git, git: {url: a.git}, http: {url: a.tar}, note: x}}`),
		}},

		"a revision of git goes when an archive's url comes, by a string": {world: exampleOf("widget"), steps: []step{
			create("v1", `{spec: {size: 1, source: {git: {revision: r}}}}`), edit("v1alpha1", `{spec: {source: "https://a.tar"}}`),
			shows("v1", `{spec: {size: 1, source: {archive: {url: "https://a.tar"}}}}`),
			shows("v1alpha1", `{spec: {size: 1, source: "https://a.tar"}}`),
		}},
		"by an object with a discriminator": {world: exampleOf("widget"), steps: []step{
			create("v1", `{spec: {size: 1, source: {git: {revision: r}}}}`),
			edit("v1beta1", `{spec: {source: {type: Archive, url: "https://a.tar"}}}`),
			shows("v1", `{spec: {size: 1, source: {archive: {url: "https://a.tar"}}}}`),
		}},
		"when git has a url": {world: exampleOf("widget"), steps: []step{
			create("v1", `{spec: {size: 1, source: {git: {url: "git://a", revision: r}}}}`), edit("v1alpha1", `{spec: {source: "https://a.tar"}}`),
			shows("v1", `{spec: {size: 1, source: {archive: {url: "https://a.tar"}}}}`),
		}},
		"an empty git goes when an archive's url comes": {world: exampleOf("widget"), steps: []step{
			create("v1", `{spec: {size: 1, source: {git: {}}}}`), edit("v1alpha1", `{spec: {source: "https://a.tar"}}`),
			shows("v1", `{spec: {size: 1, source: {archive: {url: "https://a.tar"}}}}`),
		}},
		"a revision stays with another url of git": {world: exampleOf("widget"), steps: []step{
			create("v1", `{spec: {size: 1, source: {git: {url: "git://a", revision: r}}}}`), edit("v1alpha1", `{spec: {source: "git://b"}}`),
			shows("v1", `{spec: {size: 1, source: {git: {url: "git://b", revision: r}}}}`),
		}},
		"a checksum goes with its archive": {world: exampleOf("widget"), steps: []step{
			create("v1", `{spec: {size: 1, source: {archive: {url: "https://a.tar", checksum: `+sha+`}}}}`),
			edit("v1beta1", `{spec: {source: {type: Git, url: "git://b"}}}`),
			shows("v1", `{spec: {size: 1, source: {git: {url: "git://b"}}}}`),
		}},
		"a revision of an archive does not become that of a git": {world: exampleOf("widget"), steps: []step{
			create("v1beta1", `{spec: {size: 1, source: {type: Archive, url: "https://a.tar", revision: r}}}`),
			edit("v1alpha1", `{spec: {source: "git://b"}}`),
			shows("v1beta1", `{spec: {size: 1, source: {type: Git, url: "git://b"}}}`),
			shows("v1", `{spec: {size: 1, source: {git: {url: "git://b"}}}}`),
		}},

		"a union in an element follows its own url": {world: unions("[", ", name]"), steps: []step{
			create("v1", `{spec: {l: [{name: a, type: HTTP, http: {url: a.git}}, {name: b, type: HTTP, http: {url: b.git}}]}}`),
			edit("v1beta1", `{spec: {l: [{name: a, url: c.git}, {name: b, url: b.git}]}}`),
			shows("v1", `{spec: {l: [{name: a, type: Git, git: {url: c.git}}, {name: b, type: HTTP, http: {url: b.git}}]}}`),
		}},
		"in an element without a key": {world: unions("[", "]"), steps: []step{
			create("v1", `{spec: {l: [{name: a, type: HTTP, http: {url: a.git}}, {name: b, type: HTTP, http: {url: b.git}}]}}`),
			edit("v1beta1", `{spec: {l: [{name: a, url: c.git}, {name: b, url: b.git}]}}`),
			shows("v1", `{spec: {l: [{name: a, type: Git, git: {url: c.git}}, {name: b, type: HTTP, http: {url: b.git}}]}}`),
		}},
		"in a value of a map": {world: unions("{'*': ", "}"), steps: []step{
			create("v1", `{spec: {l: {x: {type: HTTP, http: {url: a.git}}, y: {type: HTTP, http: {url: b.git}}}}}`),
			edit("v1beta1", `{spec: {l: {x: {url: c.git}}}}`),
			shows("v1", `{spec: {l: {x: {type: Git, git: {url: c.git}}, y: {type: HTTP, http: {url: b.git}}}}}`),
		}},
	}
}

const sha = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// unions is a world of unions in a list or a map.
func unions(open, end string) world {
	at := ".spec.l[]"
	if open == "{'*': " {
		at = ".spec.l{}"
	}
	return two("{spec: {l: "+open+"{name: string, url: string}"+end+"}}",
		"{spec: {l: "+open+"{name: string, type: enum Git HTTP, git: {url: string}, http: {url: string}}"+end+"}}", `
- spoke: "`+at+`.url"
  hub: {type: "`+at+`.type", git: "`+at+`.git.url", http: "`+at+`.http.url"}
  toHub: 'self.endsWith(".git") ? {"type": "Git", "git": self} : {"type": "HTTP", "http": self}'
  toSpoke: 'self.?type.orValue("") == "HTTP" ? self.?http : self.?git'`)
}
