package scenario

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// ApplyDatabase has managers apply one object at three versions, the oldest of which has no field
// for retentionDays and shows them in an annotation.
func ApplyDatabase(t *testing.T, e *Env) {
	t.Helper()
	s := e.subject(t, e.CRD(t, "databases.example.com"), e.Webhookd(t))
	s.run("a field that only the annotation shows is kept and owned", annotationKeepsOwner)
	s.run("conflicts are found across versions", databaseConflicts)
	s.run("a field that only the annotation shows can be given up", annotationGivenUp)
	s.run("a field that only the annotation shows outlives its neighbour", outlivesNeighbour)
	s.run("three managers at three versions", threeManagers)
}

func devAndOps(s subject, name string) (dev, ops applier) {
	return applier{subject: s, manager: "dev", version: "v1alpha1", name: name},
		applier{subject: s, manager: "ops", version: "v1", name: name}
}

func annotationKeepsOwner(s subject) {
	dev, ops := devAndOps(s, "kept")
	const devs = `"spec":{"engine":"postgres-17","storageGB":20,"backup":"0 3 * * *"}`
	const opss = `"spec":{"backupPolicy":{"retentionDays":14}}`
	dev.apply(devs)
	ops.apply(opss)
	want := map[string]string{
		"dev v1alpha1": ".spec.backup .spec.engine .spec.storageGB",
		"ops v1":       ".spec.backupPolicy.retentionDays",
	}
	dev.owners(want)
	s.showsKept("v1alpha1", "kept", map[string]string{"v1beta1.spec.backupPolicy.retentionDays": "14"})
	s.showsKept("v1", "kept", nil)
	dev.again(devs)
	ops.again(opss)
	dev.again(devs)

	dev.apply(`"spec":{"engine":"postgres-17","storageGB":40,"backup":"0 4 * * *"}`)
	dev.owners(want)
	s.wants("v1", "kept",
		`"spec":{"engine":"postgres-17","storageGiB":40,"backupPolicy":{"schedule":"0 4 * * *","retentionDays":14}}`)
	s.storedAs("v1beta1", "kept",
		`"spec":{"engine":"postgres-17","storageGB":40,"backupPolicy":{"schedule":"0 4 * * *","retentionDays":14}}`)
	s.showsKept("v1beta1", "kept", nil)
}

func databaseConflicts(s subject) {
	dev, ops := devAndOps(s, "conflict")
	dev.apply(`"spec":{"storageGB":20,"backup":"0 3 * * *"}`)
	ops.apply(`"spec":{"backupPolicy":{"retentionDays":14}}`)
	ops.conflicts(`"spec":{"storageGiB":30,"backupPolicy":{"schedule":"0 4 * * *","retentionDays":14}}`,
		`.spec.backup: conflict with "dev"`, `.spec.storageGB: conflict with "dev"`)
	beta := applier{subject: s, manager: "beta", version: "v1beta1", name: "conflict"}
	beta.conflicts(`"spec":{"backupPolicy":{"retentionDays":15}}`,
		`.spec.backupPolicy.retentionDays: conflict with "ops"`)
	ops.force(`"spec":{"storageGiB":30,"backupPolicy":{"schedule":"0 4 * * *","retentionDays":14}}`)
	s.wants("v1alpha1", "conflict", `"spec":{"storageGB":30,"backup":"0 4 * * *"}`)
	dev.conflicts(`"spec":{"storageGB":20,"backup":"0 3 * * *"}`,
		`.spec.backupPolicy.schedule: conflict with "ops"`, `.spec.storageGiB: conflict with "ops"`)
}

func annotationGivenUp(s subject) {
	dev, ops := devAndOps(s, "given-up")
	dev.apply(`"spec":{"backup":"0 3 * * *"}`)
	ops.apply(`"spec":{"backupPolicy":{"retentionDays":14}}`)
	s.wants("v1", "given-up", `"spec":{"backupPolicy":{"schedule":"0 3 * * *","retentionDays":14}}`)
	ops.apply(``)
	s.wants("v1", "given-up", `"spec":{"backupPolicy":{"schedule":"0 3 * * *"}}`)
	s.showsKept("v1alpha1", "given-up", nil)
	dev.again(`"spec":{"backup":"0 3 * * *"}`)
	dev.owners(map[string]string{"dev v1alpha1": ".spec.backup"})
}

func threeManagers(s subject) {
	dev, ops := devAndOps(s, "three")
	beta := applier{subject: s, manager: "beta", version: "v1beta1", name: "three"}
	const devs, betas, opss = `"spec":{"engine":"postgres-17"}`, `"spec":{"backupPolicy":{"schedule":"0 3 * * *"}}`,
		`"spec":{"storageGiB":20,"backupPolicy":{"retentionDays":14}}`
	ops.apply(opss)
	beta.apply(betas)
	dev.apply(devs)
	// The API server goes over the versions of the managers in any order, so it takes many tries.
	for range 10 {
		dev.again(devs)
		beta.again(betas)
		ops.again(opss)
		if s.t.Failed() {
			return // once is enough to read
		}
	}
	dev.owners(map[string]string{
		"dev v1alpha1": ".spec.engine",
		"beta v1beta1": ".spec.backupPolicy.schedule",
		"ops v1":       ".spec.backupPolicy.retentionDays .spec.storageGiB",
	})
	s.wants("v1alpha1", "three", `"spec":{"engine":"postgres-17","storageGB":20,"backup":"0 3 * * *"}`)
	dev.conflicts(`"spec":{"engine":"postgres-17","backup":"0 4 * * *"}`,
		`.spec.backupPolicy.schedule: conflict with "beta"`)
}

// The one who applied the schedule gives it up; retentionDays are those of another, and stay.
func outlivesNeighbour(s subject) {
	dev, ops := devAndOps(s, "outlives")
	const opss = `"spec":{"backupPolicy":{"retentionDays":14}}`
	dev.apply(`"spec":{"engine":"postgres-17","backup":"0 3 * * *"}`)
	ops.apply(opss)
	dev.apply(`"spec":{"engine":"postgres-17"}`)
	s.wants("v1", "outlives", `"spec":{"engine":"postgres-17","backupPolicy":{"retentionDays":14}}`)
	s.storedAs("v1beta1", "outlives", `"spec":{"engine":"postgres-17","backupPolicy":{"retentionDays":14}}`)
	ops.again(opss)
	dev.owners(map[string]string{"dev v1alpha1": ".spec.engine", "ops v1": ".spec.backupPolicy.retentionDays"})
	dev.apply(`"spec":{"engine":"postgres-17","backup":"0 5 * * *"}`)
	s.wants("v1", "outlives", `"spec":{"engine":"postgres-17","backupPolicy":{"schedule":"0 5 * * *","retentionDays":14}}`)
}

// showsKept compares what the annotations of an object keep, as read at a version.
func (s subject) showsKept(version, name string, want map[string]string) {
	s.t.Helper()
	if diff := cmp.Diff(want, keptIn(s.t, s.read(version, name)), cmpopts.EquateEmpty()); diff != "" {
		s.t.Errorf("kept in %s as read at %s (-want +got):\n%s", name, version, diff)
	}
}
