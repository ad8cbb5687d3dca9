// Package check holds a trace against the protocols that are spoken in it: each
// payload against the schema of its version, and the conversation against the
// laws that no schema can hold.
//
// JSON Schema is read by this package itself, and not by a library: what is linked
// is initialised by every command, and santhosh-tekuri/jsonschema/v6 takes 10 ms
// for that; google/jsonschema-go takes 0.3 ms, and says of an update that is wrong
// only that it is none of fourteen. The test holds this package against the first.
package check
