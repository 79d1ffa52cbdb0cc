package scenario

import (
	"strings"
	"testing"
)

// A specimen is an object of a compiled-in kind in two states, and the patches between them, as
// they are written at each version. Its members are all but apiVersion, kind and metadata.
type specimen struct {
	crd string
	at  map[string]specimenAt
}

type specimenAt struct {
	// before and after are the two states.
	before, after string
	// jsonPatch goes from before to after, mergePatch back.
	jsonPatch, mergePatch string
}

// specimens are those of the kinds with which the other scenarios of reading and writing work.
func (e *Env) specimens() []specimen {
	if e.rules != nil {
		return []specimen{cronTab().having("example.com", "[2001:db8::1]").having("example.com", "2001:db8::1"), database()}
	}
	return []specimen{cronTab(), database()}
}

// A specimenSubject is a specimen whose CRD is installed.
type specimenSubject struct {
	subject
	specimen
}

// subjects installs the CRDs of all specimens, as they are in the examples. It does so before
// anything else happens: the API server lets a first create wait for two seconds.
func (e *Env) subjects(t *testing.T, w subjectTarget) []specimenSubject {
	t.Helper()
	all := e.specimens()
	installed := make([]specimenSubject, 0, len(all))
	for _, p := range all {
		installed = append(installed, specimenSubject{e.subject(t, e.CRD(t, p.crd), w), p})
	}
	return installed
}

func cronTab() specimen {
	return specimen{crd: "crontabs.example.com", at: map[string]specimenAt{
		"v1beta1": {
			before: `"hostPort":"localhost:1234","spec":{"cronSpec":"* * * * */5","image":"my-awesome-cron-image","replicas":1}`,
			after:  `"hostPort":"[2001:db8::1]:8080","spec":{"cronSpec":"* * * * */5","image":"my-awesome-cron-image","replicas":3}`,
			jsonPatch: `[{"op":"test","path":"/hostPort","value":"localhost:1234"},
				{"op":"replace","path":"/hostPort","value":"[2001:db8::1]:8080"},{"op":"replace","path":"/spec/replicas","value":3}]`,
			mergePatch: `{"hostPort":"localhost:1234","spec":{"replicas":1}}`,
		},
		"v1": {
			before: `"host":"localhost","port":"1234","spec":{"cronSpec":"* * * * */5","image":"my-awesome-cron-image","replicas":1}`,
			after:  `"host":"2001:db8::1","port":"8080","spec":{"cronSpec":"* * * * */5","image":"my-awesome-cron-image","replicas":3}`,
			jsonPatch: `[{"op":"test","path":"/port","value":"1234"},{"op":"replace","path":"/host","value":"2001:db8::1"},
				{"op":"replace","path":"/port","value":"8080"},{"op":"replace","path":"/spec/replicas","value":3}]`,
			mergePatch: `{"host":"localhost","port":"1234","spec":{"replicas":1}}`,
		},
	}}
}

// database is one whose backup is not made any more after the change.
func database() specimen {
	return specimen{crd: "databases.example.com", at: map[string]specimenAt{
		"v1alpha1": {
			before: `"spec":{"engine":"postgres-17","storageGB":20,"backup":"0 3 * * *"}`,
			after:  `"spec":{"engine":"postgres-17","storageGB":9007199254740993}`,
			jsonPatch: `[{"op":"test","path":"/spec/backup","value":"0 3 * * *"},{"op":"remove","path":"/spec/backup"},
				{"op":"replace","path":"/spec/storageGB","value":9007199254740993}]`,
			mergePatch: `{"spec":{"storageGB":20,"backup":"0 3 * * *"}}`,
		},
		"v1beta1": {
			before: `"spec":{"engine":"postgres-17","storageGB":20,"backupPolicy":{"schedule":"0 3 * * *"}}`,
			after:  `"spec":{"engine":"postgres-17","storageGB":9007199254740993}`,
			jsonPatch: `[{"op":"remove","path":"/spec/backupPolicy"},
				{"op":"replace","path":"/spec/storageGB","value":9007199254740993}]`,
			mergePatch: `{"spec":{"storageGB":20,"backupPolicy":{"schedule":"0 3 * * *"}}}`,
		},
		"v1": {
			before: `"spec":{"engine":"postgres-17","storageGiB":20,"backupPolicy":{"schedule":"0 3 * * *"}}`,
			after:  `"spec":{"engine":"postgres-17","storageGiB":9007199254740993}`,
			jsonPatch: `[{"op":"remove","path":"/spec/backupPolicy"},
				{"op":"replace","path":"/spec/storageGiB","value":9007199254740993}]`,
			mergePatch: `{"spec":{"storageGiB":20,"backupPolicy":{"schedule":"0 3 * * *"}}}`,
		},
	}}
}

// having returns a specimen that has another text where it has this one: a template splits at a
// colon and knows nothing of brackets.
func (p specimen) having(replacement, old string) specimen {
	at := map[string]specimenAt{}
	for version, a := range p.at {
		at[version] = specimenAt{
			before: strings.ReplaceAll(a.before, old, replacement), after: strings.ReplaceAll(a.after, old, replacement),
			jsonPatch:  strings.ReplaceAll(a.jsonPatch, old, replacement),
			mergePatch: strings.ReplaceAll(a.mergePatch, old, replacement),
		}
	}
	return specimen{crd: p.crd, at: at}
}

// is compares an object, as it is read at each version and as etcd holds it, with a state of a
// specimen.
func (s subject) is(name string, state func(version string) string) {
	s.t.Helper()
	for _, version := range s.Served {
		s.wants(version, name, state(version))
	}
	s.storedAs(s.Storage, name, state(s.Storage))
}

// before and after are states for is and others.
func (p specimen) before(version string) string { return p.at[version].before }
func (p specimen) after(version string) string  { return p.at[version].after }
