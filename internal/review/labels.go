package review

import (
	"errors"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// validateStrings checks labels or annotations that the converter changed as the API server will
// (restoreObjectMeta in webhook_converter.go, which calls metav1validation.ValidateLabels and
// apivalidation.ValidateAnnotations), so that the user sees which key is wrong. Unlike those two,
// it checks the keys in order and quotes no values.
func validateStrings(name string, n *jsondoc.Node) error {
	if n.Kind() == jsondoc.Null {
		return nil
	}
	if n.Kind() != jsondoc.Map {
		return invalidString("set "+n.Kind().String()+" for a map of strings", name)
	}
	size := 0
	var problems problems
	err := n.Each(func(key string, value *jsondoc.Node) bool {
		if value.Kind() != jsondoc.String {
			problems.add(invalidString("set "+value.Kind().String()+" for a string", name, key))
			return true
		}
		size += len(key) + len(value.Text())
		for _, problem := range invalidEntry(name, key, value) {
			problems.add(invalidString("set an invalid entry ("+problem+")", name, key))
		}
		return true
	})
	problems.add(err)
	if name == "annotations" && size > apivalidation.TotalAnnotationSizeLimitB { // size counts escapes, so the real size is at most this
		problems.add(validateSize(n))
	}
	return problems.join()
}

func validateSize(annotations *jsondoc.Node) error {
	values := map[string]string{}
	if err := annotations.Each(func(key string, value *jsondoc.Node) bool {
		values[key], _ = value.Str()
		return true
	}); err != nil {
		return err
	}
	if err := apivalidation.ValidateAnnotationsSize(values); err != nil {
		return &sizeError{invalidString("set annotations that are too large ("+err.Error()+")", "annotations")}
	}
	return nil
}

// A sizeError says that the annotations of a result exceed the limit of the API server.
type sizeError struct{ error }

func invalidEntry(name, key string, value *jsondoc.Node) []string {
	if name == "annotations" {
		return validation.IsQualifiedName(strings.ToLower(key)) // as apivalidation.ValidateAnnotations does
	}
	text, _ := value.Str()
	return append(validation.IsQualifiedName(key), validation.IsValidLabelValue(text)...)
}

func invalidString(what string, path ...string) error {
	path = append([]string{"metadata"}, path...)
	path[len(path)-1] = clip(path[len(path)-1], maxName)
	return &jsondoc.PathError{Problem: "converter " + what + ", fix the converter", Path: jsondoc.FormatPath(path...)}
}

// problems collects as many errors as a message has room for.
type problems []error

const maxProblems = 16

func (p *problems) add(err error) {
	if err != nil && len(*p) < maxProblems {
		*p = append(*p, err)
	}
}

func (p *problems) join() error { return errors.Join(*p...) }
