package scenario

// labelsMove has a manager with labels move to another version, next to managers at three, who each
// have a field of their own. The API server then sends what is left of the object without the
// manager's fields, which has no metadata (kubernetes#117356). Where there are managers at three
// versions, it may make that a metadata of null of its own accord, and refuse that itself. It goes
// over the versions in any order, so that one of a few tries succeeds.
func labelsMove(s subject) {
	at := func(manager, version string) applier {
		return applier{subject: s, manager: manager, version: version, name: "labelled"}
	}
	mover := at("mover", "v1beta1")
	mover.labels = map[string]string{"team": "movers"}
	at("dev", "v1alpha1").apply(`"spec":{"note":"mine"}`)
	at("beta", "v1beta1").apply(`"spec":{"size":2}`)
	at("ops", "v1").apply(`"spec":{"limits":{"burst":2}}`)
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
