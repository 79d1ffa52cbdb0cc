// Package api_test holds the public packages to what they promise: see
// docs/how-to/write-a-go-converter.md.
package api_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "record the signatures")

// public returns the folder and the import path of each public package.
func public() map[string]string {
	const module = "github.com/crdconvert/webhookd"
	return map[string]string{
		"..":                           module,
		"../conversion":                module + "/conversion",
		"../conversion/conversiontest": module + "/conversion/conversiontest",
		"../conversion/rules":          module + "/conversion/rules",
		"../conversion/webhook":        module + "/conversion/webhook",
		"../contrib/controllerruntime": module + "/contrib/controllerruntime",
	}
}

// The file of a package has each exported declaration. A change of it is a change for users.
func TestSignatures(t *testing.T) {
	t.Parallel()
	for folder, path := range public() {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			got := signatures(t, parse(t, folder, path))
			name := strings.ReplaceAll(strings.TrimPrefix(path, "github.com/crdconvert/"), "/", "_") + ".txt"
			if *update {
				if err := os.WriteFile(name, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s (-want +got); users see this change, and `go test ./api -update` records it:\n%s", name, diff)
			}
		})
	}
}

// No declaration needs a package that users cannot import.
func TestSignaturesNeedNothingInternal(t *testing.T) {
	t.Parallel()
	for folder, path := range public() {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			pkg := parse(t, folder, path)
			got := string(signatures(t, pkg))
			for _, imported := range pkg.Imports {
				if name := imported[strings.LastIndex(imported, "/")+1:]; strings.Contains(imported, "/internal/") && strings.Contains(got, name+".") {
					t.Errorf("a signature has %s, which is internal", name)
				}
			}
		})
	}
}

// Each exported function and type has an example of its name. An example uses each method.
func TestEachNameHasAnExample(t *testing.T) {
	t.Parallel()
	for folder, path := range public() {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			pkg, used := parse(t, folder, path), usedInExamples(t, folder)
			funcs := slices.Clone(pkg.Funcs)
			for _, typ := range pkg.Types {
				funcs = append(funcs, typ.Funcs...)
				for _, method := range typ.Methods {
					if !used[method.Name] && !ofInterface(method.Name) {
						t.Errorf("no example uses %s.%s", typ.Name, method.Name)
					}
				}
				if !used[typ.Name] && len(typ.Funcs)+len(typ.Methods) == 0 {
					t.Errorf("no example uses %s", typ.Name)
				}
			}
			for _, f := range funcs {
				if !used["Example"+f.Name] {
					t.Errorf("there is no Example%s", f.Name)
				}
			}
		})
	}
}

// ofInterface reports whether others call the method.
func ofInterface(name string) bool {
	return slices.Contains([]string{"Convert", "MarshalJSON", "ServeHTTP", "String"}, name)
}

// parse returns a package with its exported declarations.
func parse(t *testing.T, folder, path string) *doc.Package {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	parsed := make([]*ast.File, 0, len(names))
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
	}
	pkg, err := doc.NewFromFiles(files, parsed, path)
	if err != nil {
		t.Fatal(err)
	}
	return pkg
}

// signatures returns the declarations of a package without comments and bodies.
func signatures(t *testing.T, pkg *doc.Package) []byte {
	t.Helper()
	var out bytes.Buffer
	fmt.Fprintf(&out, "package %s // %s\n", pkg.Name, pkg.ImportPath)
	add := func(decl ast.Decl) {
		out.WriteString("\n")
		if err := format.Node(&out, token.NewFileSet(), decl); err != nil {
			t.Fatal(err)
		}
		out.WriteString("\n")
	}
	addFuncs := func(funcs []*doc.Func) {
		for _, f := range funcs {
			add(f.Decl)
		}
	}
	for _, values := range slices.Concat(pkg.Consts, pkg.Vars) {
		add(values.Decl)
	}
	addFuncs(pkg.Funcs)
	for _, typ := range pkg.Types {
		add(typ.Decl)
		for _, values := range slices.Concat(typ.Consts, typ.Vars) {
			add(values.Decl)
		}
		addFuncs(typ.Funcs)
		addFuncs(typ.Methods)
	}
	const hidden = "struct {\n\n}// contains filtered or unexported fields\n"
	return bytes.ReplaceAll(out.Bytes(), []byte(hidden), []byte("struct { /* nothing exported */ }"))
}

// usedInExamples returns the names of a folder's examples, and all names that these use.
func usedInExamples(t *testing.T, folder string) map[string]bool {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			f, is := decl.(*ast.FuncDecl)
			if !is || !strings.HasPrefix(f.Name.Name, "Example") {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if id, is := n.(*ast.Ident); is {
					used[id.Name] = true
				}
				return true
			})
		}
	}
	return used
}
