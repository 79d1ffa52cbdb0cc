// Package yamledit gives documents in a YAML or JSON file other values, and changes only the
// text of the members that differ. Comments, quoting, order, indentation, line ends and all
// other documents stay as they are, byte for byte. A member that moves or is renamed takes its
// comments along.
//
// The package does not write YAML from a tree of nodes: every library does that in a style of
// its own. It takes the positions of nodes from go.yaml.in/yaml/v3, compares the value of a
// document before with the value after, and replaces ranges of the text. Then it parses the new
// text. A document that does not have exactly the wanted value, or any other document that has
// changed, makes the edit fail, so that no limit of the editor can damage a file.
package yamledit
