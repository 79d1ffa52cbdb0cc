// Package crds has the CustomResourceDefinitions of the examples, as controller-gen would write
// them.
package crds

import _ "embed"

// Databases is databases.example.com.
//
//go:embed databases.example.com.yaml
var Databases []byte

// CronTabs is crontabs.example.com.
//
//go:embed crontabs.example.com.yaml
var CronTabs []byte

// StableCronTabs is crontabs.stable.example.com.
//
//go:embed crontabs.stable.example.com.yaml
var StableCronTabs []byte
