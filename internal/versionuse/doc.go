// Package versionuse asks Prometheus how the versions of a CRD were used in the last 30 days.
//
// It must not take missing data for no use: it says of each counter for how long Prometheus has it.
package versionuse
