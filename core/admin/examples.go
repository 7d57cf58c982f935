package admin

import "github.com/mnemehq/mneme/core/op"

// examples are calls with the answers that a server gave, by operation. They tell
// one story, in which later calls build on earlier ones.
func examples() map[string][]op.Example {
	return map[string][]op.Example{
		"admin.organizations.create": {
			{Name: "acme", Summary: "Acme",
				Body: `{"name": "acme"}`,
				Answer: `{"id": "org_aHehSzebxrAKYMh0", "name": "acme", "suspended": false, "deleting_at": null, "created_at": ` +
					`"2026-11-21T18:49:05.045054Z"}`},
		},
		"admin.organizations.list": {
			{Name: "first-page", Summary: "First page", Parameters: map[string]string{"limit": "1"},
				Answer: `{
				"organizations": [
					{
						"id": "org_aHehSzebxrAKYMh0", "name": "acme", "suspended": false, "deleting_at": null,
						"created_at": "2026-11-21T18:49:05.045054Z"
					}
				],
				"next_cursor": "RAaVYia51AZprYWc1UR18XsiayI6ImFjbWUifQ"
			}`},
		},
		"admin.organizations.get": {
			{Name: "by-name", Summary: "By name", Parameters: map[string]string{"org": "acme"},
				Answer: `{"id": "org_aHehSzebxrAKYMh0", "name": "acme", "suspended": false, "deleting_at": null, "created_at": ` +
					`"2026-11-21T18:49:05.045054Z"}`},
		},
		"admin.organizations.change": {
			{Name: "suspend", Summary: "Suspend", Parameters: map[string]string{"org": "acme"},
				Body: `{"suspended": true}`,
				Answer: `{"id": "org_aHehSzebxrAKYMh0", "name": "acme", "suspended": true, "deleting_at": null, "created_at": ` +
					`"2026-11-21T18:49:05.045054Z"}`},
		},
		"admin.organizations.delete": {
			{Name: "under-way", Summary: "It begins", Parameters: map[string]string{"org": "acme", "name": "acme"}, Status: 202,
				Answer: `{
				"id": "org_aHehSzebxrAKYMh0", "job_id": "job_01a1ff70-c6f4-71bf-9034-55c94c5dfb57", "status": "deleting",
				"done": 0, "total": 0,
				"deleted": {"namespaces": 0, "documents": 0, "end_users": 0, "memories": 0, "integrations": 0, "keys": 0,
					"jobs": 0},
				"deleted_at": null
			}`},
			{Name: "absent", Summary: "There is none of that name",
				Parameters: map[string]string{"org": "globex", "name": "globex"},
				Answer: `{
				"id": null, "job_id": null, "status": "absent", "done": 0, "total": 0,
				"deleted": {"namespaces": 0, "documents": 0, "end_users": 0, "memories": 0, "integrations": 0, "keys": 0,
					"jobs": 0},
				"deleted_at": null
			}`},
		},
		"admin.keys.create": {
			{
				Name:       "read-only",
				Summary:    "For one namespace, with a limit of its own",
				Parameters: map[string]string{"org": "acme"},
				Body: `{
				"name": "search box", "read_only": true, "namespace": "home",
				"limits": {"read": {"per_minute": 600, "burst": 60}}, "expires_at": "2099-01-01T00:00:00.000000Z"
			}`,
				Answer: `{
				"id": "key_s39n90LhvdlrL34X", "organization_id": "org_aHehSzebxrAKYMh0", "name": "search box",
				"kind": "service", "prefix": "sk-service-", "last_four": "jL6t", "read_only": true,
				"namespace": "home", "source": null, "default_namespace": null, "scopes": [], "integration": null,
				"integration_name": null, "end_user_id": null,
				"limits": {"read": {"per_minute": 600, "burst": 60}},
				"created_by": "key_p3ZcWn0Vd8TqYs5L",
				"created_at": "2026-11-21T18:49:05.088865Z", "last_used_at": null,
				"expires_at": "2099-01-01T00:00:00.000000Z", "revoked_at": null, "state": "live",
				"secret": "sk-service-EXAMPLEEXAMPLEEXAMPLEEXAMPLEjL6t"
			}`,
			},
		},
		"admin.keys.list": {
			{Name: "first-page", Summary: "First page", Parameters: map[string]string{"org": "acme", "limit": "1"},
				Answer: `{
				"keys": [
					{
						"id": "key_s39n90LhvdlrL34X", "organization_id": "org_aHehSzebxrAKYMh0",
						"name": "search box", "kind": "service", "prefix": "sk-service-", "last_four": "jL6t",
						"read_only": true, "namespace": "home", "source": null, "default_namespace": null, "scopes": [],
						"integration": null, "integration_name": null, "end_user_id": null,
						"limits": {"read": {"per_minute": 600, "burst": 60}},
						"created_by": "key_p3ZcWn0Vd8TqYs5L",
						"created_at": "2026-11-21T18:49:05.088865Z", "last_used_at": null,
						"expires_at": "2099-01-01T00:00:00.000000Z", "revoked_at": null, "state": "live"
					}
				],
				"next_cursor": null
			}`},
		},
		"admin.keys.get": {
			{Name: "by-id", Summary: "By id", Parameters: map[string]string{"org": "acme", "id": "key_s39n90LhvdlrL34X"},
				Answer: `{
				"id": "key_s39n90LhvdlrL34X", "organization_id": "org_aHehSzebxrAKYMh0", "name": "search box",
				"kind": "service", "prefix": "sk-service-", "last_four": "jL6t", "read_only": true,
				"namespace": "home", "source": null, "default_namespace": null, "scopes": [], "integration": null,
				"integration_name": null, "end_user_id": null,
				"limits": {"read": {"per_minute": 600, "burst": 60}},
				"created_by": "key_p3ZcWn0Vd8TqYs5L",
				"created_at": "2026-11-21T18:49:05.088865Z", "last_used_at": null,
				"expires_at": "2099-01-01T00:00:00.000000Z", "revoked_at": null, "state": "live"
			}`},
		},
		"admin.keys.change": {
			{
				Name:       "a-new-name",
				Summary:    "A new name",
				Parameters: map[string]string{"org": "acme", "id": "key_s39n90LhvdlrL34X"},
				Body:       `{"name": "search box of the shop", "limits": {}}`,
				Answer: `{
				"id": "key_s39n90LhvdlrL34X", "organization_id": "org_aHehSzebxrAKYMh0",
				"name": "search box of the shop", "kind": "service", "prefix": "sk-service-",
				"last_four": "jL6t", "read_only": true, "namespace": "home", "source": null, "default_namespace": null,
				"scopes": [], "integration": null, "integration_name": null, "end_user_id": null, "limits": {},
				"created_by": "key_p3ZcWn0Vd8TqYs5L",
				"created_at": "2026-11-21T18:49:05.088865Z", "last_used_at": null,
				"expires_at": "2099-01-01T00:00:00.000000Z", "revoked_at": null, "state": "live"
			}`,
			},
		},
		"admin.keys.rotate": {
			{
				Name:       "an-hour-beside-each-other",
				Summary:    "An hour beside each other",
				Parameters: map[string]string{"org": "acme", "id": "key_s39n90LhvdlrL34X"},
				Body:       `{"overlap_seconds": 3600}`,
				Answer: `{
				"id": "key_QXWTfI3ub56Pyjea", "organization_id": "org_aHehSzebxrAKYMh0",
				"name": "search box of the shop", "kind": "service", "prefix": "sk-service-",
				"last_four": "5Dpt", "read_only": true, "namespace": "home", "source": null, "default_namespace": null,
				"scopes": [], "integration": null, "integration_name": null, "end_user_id": null, "limits": {},
				"created_by": "key_p3ZcWn0Vd8TqYs5L",
				"created_at": "2026-11-21T18:49:05.118064Z", "last_used_at": null,
				"expires_at": "2099-01-01T00:00:00.029199Z", "revoked_at": null, "state": "live",
				"secret": "sk-service-EXAMPLEEXAMPLEEXAMPLEEXAMPLE5Dpt"
			}`,
			},
		},
		"admin.keys.revoke": {
			{Name: "at-once", Summary: "At once", Parameters: map[string]string{"org": "acme", "id": "key_s39n90LhvdlrL34X"},
				Answer: `{"revoked": true}`},
		},
		"admin.integrations.create": {
			{Name: "assistant", Summary: "Assistant", Parameters: map[string]string{"org": "acme"},
				Body: `{"name": "assistant", "quotas": {"memories_per_end_user": 5000}}`,
				Answer: `{
				"id": "int_oJCZlA8gsGnzg6SF", "organization_id": "org_aHehSzebxrAKYMh0", "name": "assistant",
				"quotas": {"memories_per_end_user": 5000, "read_rate_per_min": 6000, "write_rate_per_min": 6000},
				"grants_required": false, "created_at": "2026-11-21T18:49:05.150166Z"
			}`},
		},
		"admin.integrations.list": {
			{Name: "first-page", Summary: "First page", Parameters: map[string]string{"org": "acme", "limit": "1"},
				Answer: `{
				"integrations": [
					{
						"id": "int_oJCZlA8gsGnzg6SF", "organization_id": "org_aHehSzebxrAKYMh0",
						"name": "assistant",
						"quotas": {"memories_per_end_user": 5000, "read_rate_per_min": 6000, "write_rate_per_min": 6000},
						"grants_required": false, "created_at": "2026-11-21T18:49:05.150166Z"
					}
				],
				"next_cursor": null
			}`},
		},
		"admin.integrations.get": {
			{Name: "by-name", Summary: "By name", Parameters: map[string]string{"org": "acme", "integration": "assistant"},
				Answer: `{
				"id": "int_oJCZlA8gsGnzg6SF", "organization_id": "org_aHehSzebxrAKYMh0", "name": "assistant",
				"quotas": {"memories_per_end_user": 5000, "read_rate_per_min": 6000, "write_rate_per_min": 6000},
				"grants_required": false, "created_at": "2026-11-21T18:49:05.150166Z"
			}`},
		},
		"admin.integrations.change": {
			{
				Name:       "more-memories",
				Summary:    "More memories",
				Parameters: map[string]string{"org": "acme", "integration": "assistant"},
				Body:       `{"quotas": {"memories_per_end_user": 20000}}`,
				Answer: `{
				"id": "int_oJCZlA8gsGnzg6SF", "organization_id": "org_aHehSzebxrAKYMh0", "name": "assistant",
				"quotas": {"memories_per_end_user": 20000, "read_rate_per_min": 6000, "write_rate_per_min": 6000},
				"grants_required": false, "created_at": "2026-11-21T18:49:05.150166Z"
			}`,
			},
		},
		"admin.integrations.keys.create": {
			{
				Name:       "with-recall",
				Summary:    "With recall",
				Parameters: map[string]string{"org": "acme", "integration": "assistant"},
				Body:       `{"name": "assistant in production", "scopes": ["memories:read", "memories:write", "recall:read"]}`,
				Answer: `{
				"id": "key_sBiNKIWkV5gq7PFL", "organization_id": "org_aHehSzebxrAKYMh0",
				"name": "assistant in production", "kind": "integration", "prefix": "cint_", "last_four": "QGLz",
				"read_only": false, "namespace": null, "source": null, "default_namespace": null,
				"scopes": ["memories:read", "memories:write", "recall:read"],
				"integration": "int_oJCZlA8gsGnzg6SF", "integration_name": "assistant", "end_user_id": null,
				"limits": {}, "created_by": "key_p3ZcWn0Vd8TqYs5L",
				"created_at": "2026-11-21T18:49:05.157557Z", "last_used_at": null,
				"expires_at": null, "revoked_at": null, "state": "live",
				"secret": "cint_EXAMPLEEXAMPLEEXAMPLEEXAMPLEQGLz"
			}`,
			},
		},
		"admin.integrations.keys.list": {
			{
				Name:       "first-page",
				Summary:    "First page",
				Parameters: map[string]string{"org": "acme", "integration": "assistant", "limit": "1"},
				Answer: `{
				"keys": [
					{
						"id": "key_sBiNKIWkV5gq7PFL", "organization_id": "org_aHehSzebxrAKYMh0",
						"name": "assistant in production", "kind": "integration", "prefix": "cint_",
						"last_four": "QGLz", "read_only": false, "namespace": null, "source": null, "default_namespace": null,
						"scopes": ["memories:read", "memories:write", "recall:read"],
						"integration": "int_oJCZlA8gsGnzg6SF", "integration_name": "assistant",
						"end_user_id": null, "limits": {}, "created_by": "key_p3ZcWn0Vd8TqYs5L",
						"created_at": "2026-11-21T18:49:05.157557Z",
						"last_used_at": null, "expires_at": null, "revoked_at": null, "state": "live"
					}
				],
				"next_cursor": null
			}`,
			},
		},
		"admin.namespaces.list": {
			{Name: "first-page", Summary: "First page", Parameters: map[string]string{"org": "default", "limit": "1"},
				Answer: `{
				"namespaces": [
					{
						"name": "home", "documents": 1, "chunks": 1, "sparse": false, "language": "auto",
						"embedding_model": "e5-small-v2", "embedding_model_chosen": false, "current": true, "shadow": null,
						"updated_at": "2026-11-21T18:49:04.637072Z"
					}
				],
				"next_cursor": null
			}`},
		},
		"admin.namespaces.reindex": {
			{Name: "anew", Summary: "Again", Parameters: map[string]string{"org": "default", "namespace": "home"}, Status: 202,
				Body: `{"force": true}`,
				Answer: `{"name": "home", "status": "waiting", "done": 0, "total": 1, "documents": 0, "chunks": 0, ` +
					`"error": null, "comparison": null}`},
		},
		"admin.namespaces.reindexing": {
			{Name: "ended", Summary: "Ended", Parameters: map[string]string{"org": "default", "namespace": "home"},
				Answer: `{"name": "home", "status": "succeeded", "done": 1, "total": 1, "documents": 1, "chunks": 1, ` +
					`"error": null,
				"comparison": {"queries": 1, "overlap": 1, "found_before": 1, "found_after": 1}}`},
		},
		"admin.namespaces.discard": {
			{
				Name:       "nothing-kept",
				Summary:    "Nothing was kept",
				Parameters: map[string]string{"org": "default", "namespace": "home"},
				Answer:     `{"discarded": false}`,
			},
		},
		"admin.namespaces.export": {
			{Name: "without-vectors", Summary: "Without vectors",
				Parameters: map[string]string{"org": "default", "namespace": "home", "vectors": "false"}},
		},
		"admin.namespaces.import": {
			{
				Name:       "without-vectors",
				Summary:    "Without vectors, under another name",
				Parameters: map[string]string{"org": "default", "namespace": "home-copy", "on_conflict": "skip"},
				Body: `{"type":"header","data":{"format":"mneme.dataset","version":1,` +
					`"id":"set_5d41402abc4b2a76b9719d91","program":"1.0.0","store":"","snapshot":"partition",` +
					`"created_at":"2026-11-21T18:50:04Z","contents":{"organization":"org_1b7WkT0JcX3mQyRe",` +
					`"namespaces":["home"],"memories":false,"vectors":false,"keys":false,"secrets":false},` +
					`"planned":{"organizations":1,"namespaces":1,"documents":1,"bytes":65}},` +
					`"hash":"_Ftqi96S6p7K5ui-C9_BnXSBX8vQJORKXmOV2XW_Zx0","chain":"Ae4-ShauSpcWb5tALu-ZTj3bG9qVNnMcWg8YnTwURuk"}
{"type":"organization","data":{"id":"org_1b7WkT0JcX3mQyRe","name":"default","created_at":"2026-11-21T17:49:04.637Z"},` +
					`"hash":"QmhMgCk4W-oSZ5clE_FftY6iOWdJciO9wWVs1Jvf28A","chain":"-UJvDyqlG-cgfFYHta_yOJTlL2-yLHvW0J2-hjeh9Vc"}
{"type":"partition","data":{"organization":"org_1b7WkT0JcX3mQyRe","space":"documents","name":"home"},` +
					`"hash":"LrYAVhHph9EBEr2eDh4rc2lSsckxcWU-0li-cKPEALE","chain":"TytSRXE5Iq62GOpqPvVfoFAygxc2ITmSsyh2RYNo_gU"}
{"type":"namespace","data":{"sparse":false,"created_at":"2026-11-21T18:49:04.637Z",` +
					`"updated_at":"2026-11-21T18:49:04.637Z"},"hash":"Zl_U9hcxnfpulCr-7z6TCsNY4nHZ1maqawWAJi08NOE",` +
					`"chain":"f0vtpRzmn6ALnRN5BHqjtuuos29dT0ILsVLG_5BwoJs"}
{"type":"document","data":{"id":"lease","text":"The lease ends on 31 May 2027. The notice period is three ` +
					`months.","metadata":{"kind":"contract","tags":["flat","rent"]},` +
					`"text_sha256":"1188bc282b7e72c263ba1121549866ab0f74a8cd168fcf79aebdad64eed17625",` +
					`"metadata_sha256":"3bbad7ea340b3b04316e4194997126e2a0024ce3903e3a1afe07fba4034dab98",` +
					`"origin":{"kind":"api","key_id":"key_7Qm2xV9bTn4LwPzd"},"created_at":"2026-11-21T18:49:04.637Z",` +
					`"updated_at":"2026-11-21T18:49:04.637Z"},"hash":"U40U7-li3_dcGKGm-eLeCHghDtsDe51Wp87vKlTJSZE",` +
					`"chain":"xmaKsv0RL6nD3ziKfeSsHpvD9-ZtRoD1Swk0TUEHE5I"}
{"type":"end","data":{"seq":1,"counts":{"namespaces":1,"documents":1,"bytes":65},` +
					`"hash":"9f81a595ad39610bf92c64f9bfa9bf864fa1166ffdd0cb7c57dc2c0763d876b7"},` +
					`"hash":"-hX36whp3O9QiHdB7W9xrU6LGUzk0UUP6mfvPRZ10Bk","chain":"1D6QN_9y4pNyLdnEj_QlzJX8nJu-kn9fJyULcybgiaQ"}
{"type":"trailer","data":{"counts":{"organizations":1,"namespaces":1,"documents":1,"bytes":65},"lines":6},` +
					`"hash":"Al_feGPvY6fl37h3m_7q0HZbIfiP7GDkhMsyNPxrfRg","chain":"q7W9AEpNDbQHJxxdIQU9iauNoJnH7RVwyo5mWYAj1Xo"}
`,
				Answer: `{
				"namespace": "home-copy", "sparse": false, "data_set": "set_5d41402abc4b2a76b9719d91",
				"hash": "9f81a595ad39610bf92c64f9bfa9bf864fa1166ffdd0cb7c57dc2c0763d876b7", "documents": 1, "created": 1,
				"replaced": 0, "unchanged": 0, "skipped": 0, "chunks": 1, "embedded": 1
			}`,
			},
		},
		"admin.end_users.list": {
			{
				Name:       "of-an-integration",
				Summary:    "Of an integration",
				Parameters: map[string]string{"org": "default", "integration": "shop", "query": "ada"},
				Answer: `{
				"end_users": [
					{
						"id": "ada@example.com", "integration": "int_Advsp7RCVNIV01dq",
						"integration_name": "shop", "memories": 1, "containers": 1, "bytes": 45,
						"first_seen": "2026-11-21T18:49:04.648000Z", "last_seen": "2026-11-21T18:49:04.990000Z",
						"erasing": null
					}
				],
				"next_cursor": null
			}`,
			},
		},
		"admin.end_users.export": {
			{Name: "everything", Summary: "Everything",
				Parameters: map[string]string{"id": "ada@example.com", "organization": "default", "integration": "shop"}},
		},
		"admin.end_users.reindex": {
			{
				Name:       "anew",
				Summary:    "Again",
				Parameters: map[string]string{"id": "ada@example.com", "organization": "default", "integration": "shop"},
				Status:     202,
				Body:       `{"force": true}`,
				Answer: `{"name": "ada@example.com", "status": "waiting", "done": 0, "total": 1, "documents": 0, ` +
					`"chunks": 0, "error": null, "comparison": null}`,
			},
		},
		"admin.end_users.reindexing": {
			{
				Name:       "ended",
				Summary:    "Ended",
				Parameters: map[string]string{"id": "ada@example.com", "organization": "default", "integration": "shop"},
				Answer: `{"name": "ada@example.com", "status": "succeeded", "done": 1, "total": 1, "documents": 1, ` +
					`"chunks": 1, "error": null, "comparison": null}`,
			},
		},
		"admin.end_users.erase": {
			{
				Name:       "for-good",
				Summary:    "For good",
				Parameters: map[string]string{"id": "ada@example.com", "organization": "default", "integration": "shop"},
				Answer: `{
				"end_user_id": "ada@example.com", "organization_id": "org_nrocxtd5pdcivpqolphiesga",
				"integration": "int_Advsp7RCVNIV01dq", "integration_name": "shop",
				"deleted": {"memories": 1, "vectors": 1, "records": 1, "receipts": 2, "replays": 1},
				"grants": {"revoked": 1, "unanswered": 0}, "verified_absent": true, "erased_at": "2026-11-21T18:49:07.748000Z"
			}`,
			},
		},
		"admin.jobs.list": {
			{
				Name:       "succeeded",
				Summary:    "The last asynchronous write that succeeded",
				Parameters: map[string]string{"kind": "documents.write", "status": "succeeded", "limit": "1"},
				Answer: `{
				"jobs": [
					{
						"id": "op_01a1ff70-c6f4-71bf-9034-55c94c5dfb55",
						"organization_id": "org_nrocxtd5pdcivpqolphiesga", "kind": "documents.write", "namespace": "home",
						"integration": null, "end_user_id": null, "status": "succeeded", "cancelling": false,
						"done": 1, "total": 1, "tries": 1, "next_attempt": null, "error": null,
						"created_at": "2026-11-21T18:49:05.045054Z", "started_at": "2026-11-21T18:49:05.051203Z",
						"updated_at": "2026-11-21T18:49:05.112480Z", "finished_at": "2026-11-21T18:49:05.112480Z",
						"expires_at": "2026-11-22T18:49:05.112480Z"
					}
				],
				"next_cursor": null
			}`,
			},
		},
		"admin.jobs.get": {
			{Name: "succeeded", Summary: "It has succeeded",
				Parameters: map[string]string{"job": "op_01a1ff70-c6f4-71bf-9034-55c94c5dfb55"},
				Answer: `{
				"id": "op_01a1ff70-c6f4-71bf-9034-55c94c5dfb55",
				"organization_id": "org_nrocxtd5pdcivpqolphiesga", "kind": "documents.write", "namespace": "home",
				"integration": null, "end_user_id": null, "status": "succeeded", "cancelling": false,
				"done": 1, "total": 1, "tries": 1, "next_attempt": null, "error": null,
				"created_at": "2026-11-21T18:49:05.045054Z", "started_at": "2026-11-21T18:49:05.051203Z",
				"updated_at": "2026-11-21T18:49:05.112480Z", "finished_at": "2026-11-21T18:49:05.112480Z",
				"expires_at": "2026-11-22T18:49:05.112480Z"
			}`},
		},
		"admin.settings.get": {
			{Name: "defaults", Summary: "Of a server on its defaults",
				Answer: `{"version": "1.0.0", "yaml": "data_dir: mneme-data\nserver:\n  addr: 127.0.0.1:8080\n"}`},
		},
		"admin.jobs.cancel": {
			{Name: "running", Summary: "It runs", Parameters: map[string]string{"job": "op_01a1ff70-c6f4-71bf-9034-55c94c5dfb56"},
				Answer: `{
				"id": "op_01a1ff70-c6f4-71bf-9034-55c94c5dfb56",
				"organization_id": "org_nrocxtd5pdcivpqolphiesga", "kind": "documents.write", "namespace": "home",
				"integration": null, "end_user_id": null, "status": "running", "cancelling": true,
				"done": 0, "total": 1, "tries": 1, "next_attempt": null, "error": null,
				"created_at": "2026-11-21T18:49:05.045054Z", "started_at": "2026-11-21T18:49:05.051203Z",
				"updated_at": "2026-11-21T18:49:06.508921Z", "finished_at": null,
				"expires_at": null
			}`},
		},
	}
}
