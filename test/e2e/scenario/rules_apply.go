package scenario

import "github.com/google/go-cmp/cmp"

// relayTeams returns a manager at each version. That of v1alpha1 applies fields that others have
// elsewhere and one of its own, that of v1 only one of its own.
func relayTeams(s subject, name string) (dev, beta, ops applier) {
	return applier{subject: s, manager: "dev", version: "v1alpha1", name: name},
		applier{subject: s, manager: "beta", version: "v1beta1", name: name},
		applier{subject: s, manager: "ops", version: "v1", name: name}
}

// relayManagers has all apply the same again, which changes nothing. The API server goes over the
// versions of the managers in any order, so it takes many tries.
func relayManagers(s subject) {
	dev, beta, ops := relayTeams(s, "teams")
	const devs = `"spec":{"host":"localhost","port":"1234","mode":"manual","note":"mine"}`
	const betas, opss = `"spec":{"image":"a","size":2}`, `"spec":{"limits":{"rate":1,"burst":2}}`
	dev.apply(devs)
	beta.apply(betas)
	ops.apply(opss)
	dev.owners(map[string]string{
		"dev v1alpha1": ".spec.host .spec.mode .spec.note .spec.port",
		"beta v1beta1": ".spec.image .spec.size",
		"ops v1":       ".spec.limits.burst .spec.limits.rate",
	})
	stored := s.storedText("teams")
	for range 10 {
		dev.again(devs)
		beta.again(betas)
		ops.again(opss)
		if s.t.Failed() {
			return // once is enough to read
		}
	}
	if diff := cmp.Diff(string(stored), string(s.storedText("teams"))); diff != "" {
		s.t.Errorf("what etcd holds changed (-before +after):\n%s", diff)
	}
	s.wants("v1alpha1", "teams", `"spec":{"image":"a","size":2,"host":"localhost","port":"1234","rate":1,`+
		`"mode":"manual","note":"mine"}`)
	s.wants("v1beta1", "teams", `"spec":{"image":"a","size":2,"hostPort":"localhost:1234","rate":1,"applyMode":"Dry"}`)
	s.wants("v1", "teams", `"spec":{"image":"a","replicas":2,"upstream":{"host":"localhost","port":"1234"},`+
		`"limits":{"rate":1,"burst":2},"policy":"Preview"}`)
}

func relayConflicts(s subject) {
	dev, beta, ops := relayTeams(s, "conflict")
	dev.apply(`"spec":{"host":"localhost","port":"1234","mode":"manual"}`)
	beta.conflicts(`"spec":{"hostPort":"localhost:1","applyMode":"Always"}`,
		`.spec.mode: conflict with "dev"`, `.spec.port: conflict with "dev"`)
	ops.conflicts(`"spec":{"upstream":{"host":"example.com"},"policy":"Apply"}`,
		`.spec.host: conflict with "dev"`, `.spec.mode: conflict with "dev"`)
	// The same is no conflict, though v1 has one word for two of v1alpha1.
	const shared = `"spec":{"upstream":{"host":"localhost"},"policy":"Preview"}`
	ops.apply(shared)
	ops.again(shared)
	s.wants("v1alpha1", "conflict", `"spec":{"host":"localhost","port":"1234","mode":"manual"}`)
	dev.conflicts(`"spec":{"host":"localhost","port":"1234","mode":"all"}`, `.spec.policy: conflict with "ops"`)

	beta.force(`"spec":{"hostPort":"example.com:80"}`)
	ops.owners(map[string]string{
		"dev v1alpha1": ".spec.mode",
		"beta v1beta1": ".spec.hostPort",
		"ops v1":       ".spec.policy",
	})
	s.wants("v1", "conflict", `"spec":{"upstream":{"host":"example.com","port":"80"},"policy":"Preview"}`)
}

func relayGivenUp(s subject) {
	dev, beta, ops := relayTeams(s, "given-up")
	dev.apply(`"spec":{"host":"localhost","port":"1234","rate":1,"note":"mine"}`)
	const betas, opss = `"spec":{"size":2}`, `"spec":{"limits":{"burst":2}}`
	beta.apply(betas)
	ops.apply(opss)
	dev.apply(`"spec":{"note":"mine"}`)
	s.wants("v1", "given-up", `"spec":{"replicas":2,"limits":{"burst":2}}`)
	s.wants("v1alpha1", "given-up", `"spec":{"size":2,"note":"mine"}`)
	beta.again(betas)
	ops.again(opss)
	dev.apply(``)
	s.keeps("given-up", map[string]string{"v1.spec.limits.burst": "2"})
	ops.apply(``)
	s.keeps("given-up", nil)
	s.storedAs("v1beta1", "given-up", `"spec":{"size":2}`)
}

// relayManagerMoves has a manager apply at one version after the other, beside others at two of
// them.
func relayManagerMoves(s subject) {
	at := map[string]struct{ applies, owns string }{
		"v1alpha1": {
			`"spec":{"host":"localhost","port":"1234","rate":1,"mode":"all","note":"mine"}`,
			".spec.host .spec.mode .spec.note .spec.port .spec.rate",
		},
		"v1beta1": {
			`"spec":{"hostPort":"localhost:1234","rate":1,"applyMode":"Always"}`,
			".spec.applyMode .spec.hostPort .spec.rate",
		},
		"v1": {
			`"spec":{"upstream":{"host":"localhost","port":"1234"},"limits":{"rate":1},"policy":"Apply"}`,
			".spec.limits.rate .spec.policy .spec.upstream.host .spec.upstream.port",
		},
	}
	mover, beta, ops := relayTeams(s, "moved")
	const betas, opss = `"spec":{"size":2}`, `"spec":{"limits":{"burst":2}}`
	beta.apply(betas)
	ops.apply(opss)
	for _, version := range []string{"v1alpha1", "v1beta1", "v1", "v1alpha1", "v1", "v1beta1", "v1alpha1"} {
		mover.version = version
		mover.apply(at[version].applies)
		mover.again(at[version].applies)
		s.wants("v1beta1", "moved", `"spec":{"size":2,"hostPort":"localhost:1234","rate":1,"applyMode":"Always"}`)
		mover.owners(map[string]string{
			"dev " + version: at[version].owns, "beta v1beta1": ".spec.size", "ops v1": ".spec.limits.burst",
		})
	}
	beta.again(betas)
	ops.again(opss)
	s.wants("v1alpha1", "moved", `"spec":{"size":2,"host":"localhost","port":"1234","rate":1,"mode":"all","note":"mine"}`)
}

// labelsMove does so with labels: the API server then sends what is left of the object without the
// manager's fields, which has no metadata (kubernetes#117356). Where there are managers at three
// versions, it may make that a metadata of null of its own accord, and refuse that itself. It goes
// over the versions in any order, so that one of a few tries succeeds.
func labelsMove(s subject) {
	dev, beta, ops := relayTeams(s, "labelled")
	mover := beta
	mover.manager, mover.labels = "mover", map[string]string{"team": "movers"}
	dev.apply(`"spec":{"note":"mine"}`)
	beta.apply(`"spec":{"size":2}`)
	ops.apply(`"spec":{"limits":{"burst":2}}`)
	mover.apply(`"spec":{"hostPort":"localhost:1234"}`)
	const moved = `"spec":{"upstream":{"host":"localhost","port":"1234"}}`
	mover.version = "v1"
	Succeeds(s.t, "an apply at another version", func() error {
		_, err := mover.try(moved, false)
		if err != nil {
			failsWith(s.t, "apply with labels at another version", err,
				"returned invalid metadata: invalid metadata of type <nil> in input object")
		}
		return err
	})
	mover.again(moved)
	mover.owners(map[string]string{
		"dev v1alpha1": ".spec.note",
		"beta v1beta1": ".spec.size",
		"ops v1":       ".spec.limits.burst",
		"mover v1":     ".metadata.labels.team .spec.upstream.host .spec.upstream.port",
	})
	s.wants("v1alpha1", "labelled", `"spec":{"size":2,"host":"localhost","port":"1234","note":"mine"}`)
	s.storedAs("v1beta1", "labelled", `"spec":{"size":2,"hostPort":"localhost:1234"}`)
}
