package scenario

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// aliceAndBob returns two managers. Alice's team has not moved from v1beta1, where hostPort is one
// field. Bob's works at v1, where it is host and port, and which is stored.
func aliceAndBob(s subject, name string) (alice, bob applier) {
	return applier{subject: s, manager: "alice", version: "v1beta1", name: name},
		applier{subject: s, manager: "bob", version: "v1", name: name}
}

// ApplyCronTab has two managers apply one object at two versions.
func ApplyCronTab(t *testing.T, e *Env) {
	t.Helper()
	s := e.subject(t, e.CRD(t, "crontabs.example.com"), e.Webhookd(t))
	s.run("owners keep what is theirs", ownersKeepTheirs)
	s.run("the same again changes nothing", sameApplyAgain)
	s.run("conflicts are found across versions", conflictsAcrossVersions)
	s.run("force takes a field over", forceAcrossVersions)
	s.run("a field that no one applies any more goes", removalAcrossVersions)
	s.run("half of a joined field", halfOfAJoinedField)
	s.run("update beside apply", updateBesideApply)
}

func ownersKeepTheirs(s subject) {
	alice, bob := aliceAndBob(s, "owners")
	alice.apply(`"hostPort":"localhost:1234","spec":{"cronSpec":"* * * * *"}`)
	bob.apply(`"spec":{"image":"a","replicas":2}`)
	alice.owners(map[string]string{"alice v1beta1": ".hostPort .spec.cronSpec", "bob v1": ".spec.image .spec.replicas"})
	s.wants("v1beta1", "owners", `"hostPort":"localhost:1234","spec":{"cronSpec":"* * * * *","image":"a","replicas":2}`)
	s.wants("v1", "owners", `"host":"localhost","port":"1234","spec":{"cronSpec":"* * * * *","image":"a","replicas":2}`)

	alice.apply(`"hostPort":"localhost:4321","spec":{"cronSpec":"* * * * *"}`)
	bob.apply(`"spec":{"image":"a","replicas":3}`)
	alice.owners(map[string]string{"alice v1beta1": ".hostPort .spec.cronSpec", "bob v1": ".spec.image .spec.replicas"})
	s.storedAs("v1", "owners", `"host":"localhost","port":"4321","spec":{"cronSpec":"* * * * *","image":"a","replicas":3}`)
}

func sameApplyAgain(s subject) {
	alice, bob := aliceAndBob(s, "again")
	const alices, bobs = `"hostPort":"localhost:1234"`, `"spec":{"image":"a"}`
	alice.apply(alices)
	bob.apply(bobs)
	alice.again(alices)
	bob.again(bobs)
	alice.again(alices)
	// The same value by another manager at another version is a second owner, once.
	const same = `"host":"localhost","port":"1234","spec":{"image":"a"}`
	bob.apply(same)
	alice.owners(map[string]string{"alice v1beta1": ".hostPort", "bob v1": ".host .port .spec.image"})
	alice.again(alices)
	bob.again(same)
}

func conflictsAcrossVersions(s subject) {
	alice, bob := aliceAndBob(s, "conflict")
	alice.apply(`"hostPort":"localhost:1234"`)
	bob.conflicts(`"host":"example.com","port":"1"`,
		`.hostPort: conflict with "alice"`)
	bob.apply(`"spec":{"image":"a"}`)
	alice.conflicts(`"hostPort":"localhost:1234","spec":{"image":"b"}`, `.spec.image: conflict with "bob"`)

	alice.name, bob.name = "tcilfnoc", "tcilfnoc"
	bob.apply(`"host":"localhost","port":"1234"`)
	alice.conflicts(`"hostPort":"localhost:1235"`, `.port: conflict with "bob"`)
}

func forceAcrossVersions(s subject) {
	alice, bob := aliceAndBob(s, "force")
	const alices = `"hostPort":"localhost:1234","spec":{"image":"a"}`
	alice.apply(alices)
	bob.force(`"host":"example.com","port":"1"`)
	alice.owners(map[string]string{"alice v1beta1": ".spec.image", "bob v1": ".host .port"})
	s.wants("v1beta1", "force", `"hostPort":"example.com:1","spec":{"image":"a"}`)
	alice.conflicts(alices, `.host: conflict with "bob"`, `.port: conflict with "bob"`)
	alice.force(alices)
	alice.owners(map[string]string{"alice v1beta1": ".hostPort .spec.image"})
	s.wants("v1", "force", `"host":"localhost","port":"1234","spec":{"image":"a"}`)
}

func removalAcrossVersions(s subject) {
	alice, bob := aliceAndBob(s, "removal")
	alice.apply(`"hostPort":"localhost:1234","spec":{"cronSpec":"* * * * *","image":"a"}`)
	bob.apply(`"host":"localhost","port":"1234","spec":{"image":"a","replicas":2}`)
	// Bob alone has replicas; both have the rest of what he gives up.
	bob.apply(`"host":"localhost","port":"1234"`)
	s.wants("v1beta1", "removal", `"hostPort":"localhost:1234","spec":{"cronSpec":"* * * * *","image":"a"}`)
	// Alice gives up what they both have.
	alice.apply(`"spec":{"cronSpec":"* * * * *","image":"a"}`)
	alice.owners(map[string]string{"alice v1beta1": ".spec.cronSpec .spec.image", "bob v1": ".host .port"})
	s.wants("v1", "removal", `"host":"localhost","port":"1234","spec":{"cronSpec":"* * * * *","image":"a"}`)
	// And what is left of it goes with the last.
	bob.apply(``)
	s.wants("v1beta1", "removal", `"spec":{"cronSpec":"* * * * *","image":"a"}`)
	alice.apply(`"spec":{"cronSpec":"* * * * *"}`)
	s.storedAs("v1", "removal", `"spec":{"cronSpec":"* * * * *"}`)
}

// A field of one version can be two of the other, and a manager may own only one of them.
func halfOfAJoinedField(s subject) {
	alice, bob := aliceAndBob(s, "half")
	alice.apply(`"hostPort":"localhost:1234"`)
	bob.apply(`"port":"1234"`)
	alice.again(`"hostPort":"localhost:1234"`)
	bob.conflicts(`"port":"4321"`, `.hostPort: conflict with "alice"`)
	bob.apply(``)
	s.wants("v1", "half", `"host":"localhost","port":"1234"`)
	// Alice gives hostPort up, but its port is still Bob's. The API server takes fields away
	// whole, at the version of who gave them up, so the host stays, without an owner.
	bob.apply(`"port":"1234"`)
	alice.apply(``)
	s.storedAs("v1", "half", `"host":"localhost","port":"1234"`)
	alice.owners(map[string]string{"bob v1": ".port"})
	bob.again(`"port":"1234"`)
	alice.apply(`"hostPort":"example.com:1234"`)
	s.storedAs("v1", "half", `"host":"example.com","port":"1234"`)
}

// A client that updates or patches without apply is a manager as well, at the version of its
// request.
func updateBesideApply(s subject) {
	alice, bob := aliceAndBob(s, "update")
	alice.apply(`"hostPort":"localhost:1234","spec":{"image":"a"}`)
	obj := s.read("v1", "update")
	obj.Object["port"] = "4321"
	if _, err := s.At("v1").Update(s.t.Context(), obj, metav1.UpdateOptions{FieldManager: "carol"}); err != nil {
		s.t.Fatalf("update: %v", err)
	}
	owners := ownership(s.t, s.read("v1beta1", "update"))
	if owners["alice v1beta1"] != ".spec.image" || owners["carol v1"] != ".port" {
		s.t.Errorf("owners after an update: %v", owners)
	}
	carol := `.port: conflict with "carol" using ` + s.Group + "/v1"
	alice.conflicts(`"hostPort":"localhost:1234","spec":{"image":"a"}`, carol)
	bob.conflicts(`"port":"1"`, carol)
}
