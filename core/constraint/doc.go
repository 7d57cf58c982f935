// Package constraint checks decoded requests against the limits that the tags of
// their struct fields declare. The JSON Schemas that clients see come from the same
// tags (transports/codec), so a limit is written once.
//
// The tags are minimum and maximum of numbers; minLength and maxLength in Unicode
// characters, maxBytes in bytes of UTF-8, pattern, not (a pattern) and enum of
// texts; enum of booleans; minItems and maxItems of lists; minProperties and keys
// (the names that may be used) of maps; schema for the forms that several fields
// share. Limits of numbers and texts reach through lists and maps to their values.
//
// These word a broken limit: fault is the code of everything that is
// wrong with a field; limitFault the code of a broken limit of a number or text,
// where it differs from that; rule the message about a pattern, a length or an enum
// of a text, in words. label:"true" marks the field whose value names an item of a
// list in the paths of the fields after it, as in "documents[3] (id a).text".
// at:"parent" names the value that holds a field in place of the field itself when
// one of the field's bounds is broken.
//
// A field is required when its JSON name has neither omitempty nor omitzero, and in
// a path, query or header when it has required:"true". Since a decoded text does
// not tell absent from empty, an empty one is refused as absent where the tags
// require a character.
//
// op.Define has every decoded request checked, whatever the transport. Callers that
// make a request themselves call op.Check.
package constraint
