// Package check checks a trace against its protocols: each payload against the schema
// of its version, and the conversation against rules that no schema can express.
//
// The package reads JSON Schema itself. Each command initialises what is linked, and
// santhosh-tekuri/jsonschema/v6 takes 10 ms for that. google/jsonschema-go takes 0.3
// ms, but says of a wrong update only that it is none of fourteen. A test compares this
// package with the first.
package check
