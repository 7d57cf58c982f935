package filter

import "fmt"

// MetadataSchema is the JSON Schema (2020-12) of metadata as ParseMetadata takes
// it, up to its size in bytes.
func MetadataSchema() string {
	return fmt.Sprintf(`{
		"type": "object", "title": "Metadata",
		"description": "At most %d keys and %d bytes. Keys have 1-%d characters and don't start with $. Values are `+
		`strings, numbers, booleans and arrays of at most %d strings.",
		"maxProperties": %d,
		"propertyNames": {"pattern": "^[^$\\u0000][^\\u0000]*$", "minLength": 1, "maxLength": %d},
		"additionalProperties": {"anyOf": [
			{"type": "string", "pattern": "^[^\\u0000]*$"}, {"type": "number", "format": "double"}, {"type": "boolean"},
			{"type": "array", "maxItems": %d, "items": {"type": "string", "pattern": "^[^\\u0000]*$"}}]}}`,
		MaxKeys, MaxBytes, MaxKeyRunes, MaxArrayItems, MaxKeys, MaxKeyRunes, MaxArrayItems)
}

// Schema is the JSON Schema (2020-12) of a filter as Parse takes it, up to its
// depth and number of conditions. self is the reference of the schema to itself.
func Schema(self string) string {
	// A choice, since few generators of clients know a list of types.
	const plain = `{"type": "string"}, {"type": "number", "format": "double"}, {"type": "boolean"}`
	return fmt.Sprintf(`{
		"type": "object", "title": "Metadata filter",
		"description": "Conditions on metadata, all of which must hold. A plain value is the same as {\"$eq\": value}. `+
		`Values compare as text, and an array matches by any of its items. At most %d conditions, %d levels deep.",
		"minProperties": 1,
		"propertyNames": {"pattern": "^(\\$and|\\$or|[^$][\\s\\S]*)$"},
		"properties": {
			"$and": {"type": "array", "minItems": 1, "items": {"$ref": %q}},
			"$or": {"type": "array", "minItems": 1, "items": {"$ref": %[3]q}}},
		"additionalProperties": {"anyOf": [
			%[5]s,
			{"type": "object", "minProperties": 1, "additionalProperties": false, "properties": {
				"$eq": {"anyOf": [%[5]s]},
				"$in": {"type": "array", "minItems": 1, "maxItems": %[4]d, "items": {"anyOf": [%[5]s]}}}}]}}`,
		MaxConditions, MaxDepth, self, MaxValues, plain)
}
