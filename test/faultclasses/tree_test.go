package faultclasses_test

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A tree is a repository whose tests are looked at, in whatever module they are.
type tree struct {
	root     string
	packages map[string]map[string]*ast.FuncDecl // of the tests in a folder, by name
	words    map[string]map[string]bool          // that are string literals or names of testdata, in a folder and those below it
}

func newTree(root string) *tree {
	return &tree{root, map[string]map[string]*ast.FuncDecl{}, map[string]map[string]bool{}}
}

// problem says what is wrong with a test that the table names, if anything is.
func (t *tree) problem(named string) string {
	parts := held.FindStringSubmatch(named)
	if parts == nil {
		return "`" + named + "` is no test: write `folder.TestName` or `folder.TestName/subtest`, with commas between"
	}
	folder, name, subtest := parts[1], parts[2], parts[3]
	functions := t.functions(folder)
	function := functions[name]
	switch {
	case function == nil || !isTest(function):
		return fmt.Sprintf("there is no %s in %s", name, folder)
	case skips(function, functions, map[string]bool{}):
		return fmt.Sprintf("%s.%s may skip", folder, name)
	case subtest != "" && !t.named(folder)[subtest]:
		return fmt.Sprintf("nothing in %s is called %q", folder, subtest)
	}
	return ""
}

// functions returns those of the test files that CI compiles, which is on Linux.
func (t *tree) functions(folder string) map[string]*ast.FuncDecl {
	if found := t.packages[folder]; found != nil {
		return found
	}
	found := map[string]*ast.FuncDecl{}
	t.packages[folder] = found
	linux := build.Default
	linux.GOOS, linux.GOARCH, linux.BuildTags = "linux", "amd64", nil
	files, _ := filepath.Glob(filepath.Join(t.root, folder, "*_test.go")) // the pattern is good
	for _, file := range files {
		if matches, err := linux.MatchFile(filepath.Split(file)); err != nil || !matches {
			continue
		}
		for _, declaration := range parse(file).Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv == nil {
				found[f.Name.Name] = f
			}
		}
	}
	return found
}

// parse returns what can be read of a file; what cannot is the compiler's to say.
func parse(file string) *ast.File {
	text, _ := os.ReadFile(file)
	f, _ := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	if f == nil {
		return &ast.File{}
	}
	return f
}

// isTest reports whether go test runs a function.
func isTest(f *ast.FuncDecl) bool {
	want := map[bool]string{true: "T", false: "F"}[strings.HasPrefix(f.Name.Name, "Test")]
	if f.Type.Params.NumFields() != 1 {
		return false
	}
	pointer, _ := f.Type.Params.List[0].Type.(*ast.StarExpr)
	if pointer == nil || !ofTesting(pointer) {
		return false
	}
	of, _ := pointer.X.(*ast.SelectorExpr)
	return of != nil && of.Sel.Name == want
}

// skips reports whether a function, or one of the package's that it names, may skip the test. (What
// the test files of other packages do is the linter's to see, which knows no exception.)
func skips(f *ast.FuncDecl, functions map[string]*ast.FuncDecl, seen map[string]bool) bool {
	if seen[f.Name.Name] {
		return false
	}
	seen[f.Name.Name] = true
	found, handles := false, map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			if ofTesting(n.Type) {
				for _, name := range n.Names {
					handles[name.Name] = true
				}
			}
		case *ast.SelectorExpr:
			// Other things can be skipped too, by a method of that name.
			on, isName := n.X.(*ast.Ident)
			found = found || n.Sel.Name == "Skipf" || n.Sel.Name == "SkipNow" || n.Sel.Name == "Skip" && (!isName || handles[on.Name])
		case *ast.Ident:
			if below := functions[n.Name]; below != nil {
				found = found || skips(below, functions, seen)
			}
		}
		return !found
	})
	return found
}

// ofTesting reports whether a type is *testing.T, testing.TB or the like.
func ofTesting(e ast.Expr) bool {
	if pointer, ok := e.(*ast.StarExpr); ok {
		e = pointer.X
	}
	of, _ := e.(*ast.SelectorExpr)
	if of == nil {
		return false
	}
	from, _ := of.X.(*ast.Ident)
	return from != nil && from.Name == "testing"
}

// named returns what a subtest in a folder may be called.
func (t *tree) named(folder string) map[string]bool {
	if words := t.words[folder]; words != nil {
		return words
	}
	words := map[string]bool{}
	t.words[folder] = words
	_ = filepath.WalkDir(filepath.Join(t.root, folder), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.Contains(filepath.ToSlash(path), "/testdata/"):
			words[strings.TrimSuffix(d.Name(), filepath.Ext(d.Name()))] = true
		case strings.HasSuffix(path, ".go"):
			maps.Copy(words, literals(parse(path)))
		}
		return nil
	})
	return words
}

// literals returns the strings of a file.
func literals(file *ast.File) map[string]bool {
	all := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				all[text] = true
			}
		}
		return true
	})
	return all
}
