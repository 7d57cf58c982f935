"""What calls take and answer. Each is loaded when it is first asked for, since all of them take longer than the rest."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .admin_audit_export_actor import AdminAuditExportActor
    from .admin_audit_export_csv_actor import AdminAuditExportCsvActor
    from .admin_audit_list_actor import AdminAuditListActor
    from .admin_certificate import AdminCertificate
    from .admin_change_integration import AdminChangeIntegration
    from .admin_change_key import AdminChangeKey
    from .admin_change_key_limits import AdminChangeKeyLimits
    from .admin_change_organization import AdminChangeOrganization
    from .admin_configuration import AdminConfiguration
    from .admin_create_integration import AdminCreateIntegration
    from .admin_create_integration_key import AdminCreateIntegrationKey
    from .admin_create_integration_key_kind import AdminCreateIntegrationKeyKind
    from .admin_create_integration_key_limits import AdminCreateIntegrationKeyLimits
    from .admin_create_integration_key_scopes_item import (
        AdminCreateIntegrationKeyScopesItem,
    )
    from .admin_create_key import AdminCreateKey
    from .admin_create_key_kind import AdminCreateKeyKind
    from .admin_create_key_limits import AdminCreateKeyLimits
    from .admin_create_organization import AdminCreateOrganization
    from .admin_deleted import AdminDeleted
    from .admin_discarded import AdminDiscarded
    from .admin_document_line import AdminDocumentLine
    from .admin_document_line_type import AdminDocumentLineType
    from .admin_end_line import AdminEndLine
    from .admin_end_line_type import AdminEndLineType
    from .admin_end_user import AdminEndUser
    from .admin_end_users import AdminEndUsers
    from .admin_error_line import AdminErrorLine
    from .admin_error_line_type import AdminErrorLineType
    from .admin_events_list_kinds_item import AdminEventsListKindsItem
    from .admin_export_end import AdminExportEnd
    from .admin_export_end_type import AdminExportEndType
    from .admin_export_grant import AdminExportGrant
    from .admin_export_head import AdminExportHead
    from .admin_export_head_type import AdminExportHeadType
    from .admin_export_memory import AdminExportMemory
    from .admin_export_memory_type import AdminExportMemoryType
    from .admin_export_receipt import AdminExportReceipt
    from .admin_export_receipt_operation import AdminExportReceiptOperation
    from .admin_export_receipt_outcome import AdminExportReceiptOutcome
    from .admin_export_receipt_type import AdminExportReceiptType
    from .admin_export_record import AdminExportRecord
    from .admin_export_record_status import AdminExportRecordStatus
    from .admin_export_record_type import AdminExportRecordType
    from .admin_header_line import AdminHeaderLine
    from .admin_header_line_type import AdminHeaderLineType
    from .admin_imported_namespace import AdminImportedNamespace
    from .admin_integration import AdminIntegration
    from .admin_integrations import AdminIntegrations
    from .admin_issued_key import AdminIssuedKey
    from .admin_issued_key_kind import AdminIssuedKeyKind
    from .admin_issued_key_limits import AdminIssuedKeyLimits
    from .admin_issued_key_state import AdminIssuedKeyState
    from .admin_job import AdminJob
    from .admin_job_error import AdminJobError
    from .admin_job_status import AdminJobStatus
    from .admin_jobs import AdminJobs
    from .admin_jobs_list_status import AdminJobsListStatus
    from .admin_key import AdminKey
    from .admin_key_kind import AdminKeyKind
    from .admin_key_limits import AdminKeyLimits
    from .admin_key_state import AdminKeyState
    from .admin_keys import AdminKeys
    from .admin_namespace import AdminNamespace
    from .admin_namespace_language import AdminNamespaceLanguage
    from .admin_namespace_line import AdminNamespaceLine
    from .admin_namespace_line_type import AdminNamespaceLineType
    from .admin_namespaces import AdminNamespaces
    from .admin_namespaces_import_on_conflict import AdminNamespacesImportOnConflict
    from .admin_organization import AdminOrganization
    from .admin_organization_deletion import AdminOrganizationDeletion
    from .admin_organization_deletion_status import AdminOrganizationDeletionStatus
    from .admin_organization_line import AdminOrganizationLine
    from .admin_organization_line_type import AdminOrganizationLineType
    from .admin_organization_removed import AdminOrganizationRemoved
    from .admin_organizations import AdminOrganizations
    from .admin_partition_line import AdminPartitionLine
    from .admin_partition_line_type import AdminPartitionLineType
    from .admin_quota_change import AdminQuotaChange
    from .admin_quotas import AdminQuotas
    from .admin_rate import AdminRate
    from .admin_rate_change import AdminRateChange
    from .admin_reindex import AdminReindex
    from .admin_reindex_failed import AdminReindexFailed
    from .admin_reindex_language import AdminReindexLanguage
    from .admin_reindex_user import AdminReindexUser
    from .admin_reindexing import AdminReindexing
    from .admin_reindexing_status import AdminReindexingStatus
    from .admin_revoked import AdminRevoked
    from .admin_rotate_key import AdminRotateKey
    from .admin_shadow import AdminShadow
    from .admin_shadow_state import AdminShadowState
    from .admin_trailer_line import AdminTrailerLine
    from .admin_trailer_line_type import AdminTrailerLineType
    from .admin_ungranted import AdminUngranted
    from .admin_usage_export_csv_by import AdminUsageExportCsvBy
    from .admin_usage_list_by import AdminUsageListBy
    from .admin_webhooks_deliveries_list_status import AdminWebhooksDeliveriesListStatus
    from .audit_problem import AuditProblem
    from .audit_problem_kind import AuditProblemKind
    from .audit_record import AuditRecord
    from .audit_record_actor import AuditRecordActor
    from .audit_records import AuditRecords
    from .audit_verification import AuditVerification
    from .check_outcome import CheckOutcome
    from .check_removed import CheckRemoved
    from .check_report import CheckReport
    from .check_save import CheckSave
    from .check_save_language import CheckSaveLanguage
    from .check_save_mode import CheckSaveMode
    from .check_save_retrievers_type_0_item import CheckSaveRetrieversType0Item
    from .check_save_weights_type_0 import CheckSaveWeightsType0
    from .check_saved import CheckSaved
    from .check_saved_language import CheckSavedLanguage
    from .check_saved_list import CheckSavedList
    from .check_saved_mode import CheckSavedMode
    from .check_saved_retrievers_item import CheckSavedRetrieversItem
    from .check_saved_weights import CheckSavedWeights
    from .check_source import CheckSource
    from .check_source_secrets import CheckSourceSecrets
    from .create_namespace import CreateNamespace
    from .create_namespace_language import CreateNamespaceLanguage
    from .create_source import CreateSource
    from .create_source_deletions import CreateSourceDeletions
    from .create_source_secrets import CreateSourceSecrets
    from .dataset_contents import DatasetContents
    from .dataset_counts import DatasetCounts
    from .dataset_document import DatasetDocument
    from .dataset_end import DatasetEnd
    from .dataset_failure import DatasetFailure
    from .dataset_header import DatasetHeader
    from .dataset_header_format import DatasetHeaderFormat
    from .dataset_header_version import DatasetHeaderVersion
    from .dataset_models import DatasetModels
    from .dataset_namespace import DatasetNamespace
    from .dataset_organization import DatasetOrganization
    from .dataset_partition import DatasetPartition
    from .dataset_partition_space import DatasetPartitionSpace
    from .dataset_trailer import DatasetTrailer
    from .degraded import Degraded
    from .degraded_part import DegradedPart
    from .degraded_reason import DegradedReason
    from .delete_documents import DeleteDocuments
    from .document import Document
    from .document_chunk import DocumentChunk
    from .document_deleted_some import DocumentDeletedSome
    from .document_failure import DocumentFailure
    from .document_head import DocumentHead
    from .document_input import DocumentInput
    from .document_operation import DocumentOperation
    from .document_operation_status import DocumentOperationStatus
    from .document_page import DocumentPage
    from .document_written import DocumentWritten
    from .documents_event import DocumentsEvent
    from .documents_get_include_item import DocumentsGetIncludeItem
    from .documents_list_order import DocumentsListOrder
    from .error import Error
    from .error_detail import ErrorDetail
    from .event import Event
    from .event_data import EventData
    from .event_delivery import EventDelivery
    from .event_delivery_status import EventDeliveryStatus
    from .event_documents_data import EventDocumentsData
    from .event_key_data import EventKeyData
    from .event_kind_info import EventKindInfo
    from .event_kind_info_keys import EventKindInfoKeys
    from .event_kind_info_schema import EventKindInfoSchema
    from .event_kind_list import EventKindList
    from .event_memory_data import EventMemoryData
    from .event_model_data import EventModelData
    from .event_model_data_kind import EventModelDataKind
    from .event_model_data_status import EventModelDataStatus
    from .event_namespace_data import EventNamespaceData
    from .event_page import EventPage
    from .event_quota_data import EventQuotaData
    from .event_quota_data_quota import EventQuotaDataQuota
    from .event_run_counts import EventRunCounts
    from .event_run_data import EventRunData
    from .event_run_data_status import EventRunDataStatus
    from .event_source_data import EventSourceData
    from .event_source_data_state import EventSourceDataState
    from .event_told import EventTold
    from .event_told_data import EventToldData
    from .event_user_data import EventUserData
    from .event_webhook_data import EventWebhookData
    from .event_webhook_data_reason import EventWebhookDataReason
    from .events_list_kinds_item import EventsListKindsItem
    from .file import File
    from .file_accepted import FileAccepted
    from .file_accepted_status import FileAcceptedStatus
    from .file_chunk import FileChunk
    from .file_failure import FileFailure
    from .file_failure_code import FileFailureCode
    from .file_form import FileForm
    from .file_format import FileFormat
    from .file_formats import FileFormats
    from .file_outcome import FileOutcome
    from .file_status import FileStatus
    from .file_uploaded import FileUploaded
    from .filter_ import Filter
    from .key_event import KeyEvent
    from .member import Member
    from .member_change import MemberChange
    from .member_change_role import MemberChangeRole
    from .member_invite import MemberInvite
    from .member_invite_role import MemberInviteRole
    from .member_invited import MemberInvited
    from .member_invited_role import MemberInvitedRole
    from .member_invited_state import MemberInvitedState
    from .member_removed import MemberRemoved
    from .member_role import MemberRole
    from .member_state import MemberState
    from .members import Members
    from .memory import Memory
    from .memory_applied import MemoryApplied
    from .memory_backends import MemoryBackends
    from .memory_batch import MemoryBatch
    from .memory_batch_item import MemoryBatchItem
    from .memory_cited import MemoryCited
    from .memory_cited_passage import MemoryCitedPassage
    from .memory_context_block import MemoryContextBlock
    from .memory_context_query import MemoryContextQuery
    from .memory_context_query_language import MemoryContextQueryLanguage
    from .memory_create_grant import MemoryCreateGrant
    from .memory_create_grant_secrets import MemoryCreateGrantSecrets
    from .memory_delete import MemoryDelete
    from .memory_deleted import MemoryDeleted
    from .memory_erased_user import MemoryErasedUser
    from .memory_error import MemoryError_
    from .memory_error_details import MemoryErrorDetails
    from .memory_event import MemoryEvent
    from .memory_grant import MemoryGrant
    from .memory_grant_upstream import MemoryGrantUpstream
    from .memory_granted import MemoryGranted
    from .memory_grants import MemoryGrants
    from .memory_integration import MemoryIntegration
    from .memory_message import MemoryMessage
    from .memory_message_outcome import MemoryMessageOutcome
    from .memory_message_outcome_outcome import MemoryMessageOutcomeOutcome
    from .memory_message_role import MemoryMessageRole
    from .memory_page import MemoryPage
    from .memory_plane import MemoryPlane
    from .memory_plane_status import MemoryPlaneStatus
    from .memory_query import MemoryQuery
    from .memory_query_language import MemoryQueryLanguage
    from .memory_quotas import MemoryQuotas
    from .memory_receipt import MemoryReceipt
    from .memory_receipt_operation import MemoryReceiptOperation
    from .memory_receipt_outcome import MemoryReceiptOutcome
    from .memory_record import MemoryRecord
    from .memory_record_status import MemoryRecordStatus
    from .memory_ref import MemoryRef
    from .memory_remember import MemoryRemember
    from .memory_remembered import MemoryRemembered
    from .memory_result import MemoryResult
    from .memory_results import MemoryResults
    from .memory_save import MemorySave
    from .memory_saved import MemorySaved
    from .memory_saved_batch import MemorySavedBatch
    from .memory_saved_one import MemorySavedOne
    from .memory_status import MemoryStatus
    from .memory_upsert import MemoryUpsert
    from .metadata import Metadata
    from .model import Model
    from .model_event import ModelEvent
    from .model_kind import ModelKind
    from .model_list import ModelList
    from .model_runtime import ModelRuntime
    from .model_status import ModelStatus
    from .models_list_kind import ModelsListKind
    from .namespace import Namespace
    from .namespace_created import NamespaceCreated
    from .namespace_created_language import NamespaceCreatedLanguage
    from .namespace_deleted import NamespaceDeleted
    from .namespace_event import NamespaceEvent
    from .namespace_language import NamespaceLanguage
    from .namespace_page import NamespacePage
    from .port_origin import PortOrigin
    from .port_source_counts import PortSourceCounts
    from .query_explain import QueryExplain
    from .query_hit import QueryHit
    from .query_neighbor import QueryNeighbor
    from .query_rank import QueryRank
    from .query_request import QueryRequest
    from .query_request_language import QueryRequestLanguage
    from .query_request_mode import QueryRequestMode
    from .query_request_retrievers_type_0_item import QueryRequestRetrieversType0Item
    from .query_request_weights_type_0 import QueryRequestWeightsType0
    from .query_rerank import QueryRerank
    from .query_rerank_output import QueryRerankOutput
    from .query_result import QueryResult
    from .query_result_retrievers_item import QueryResultRetrieversItem
    from .query_result_score_kind import QueryResultScoreKind
    from .query_span import QuerySpan
    from .quota_event import QuotaEvent
    from .recall_answer import RecallAnswer
    from .recall_citation import RecallCitation
    from .recall_request import RecallRequest
    from .recall_request_language import RecallRequestLanguage
    from .recall_usage import RecallUsage
    from .reindex_comparison import ReindexComparison
    from .rerank_alias_request import RerankAliasRequest
    from .rerank_alias_request_documents_item_type_1 import (
        RerankAliasRequestDocumentsItemType1,
    )
    from .rerank_alias_request_rank_fields_type_0_item import (
        RerankAliasRequestRankFieldsType0Item,
    )
    from .rerank_alias_scored import RerankAliasScored
    from .rerank_alias_scored_document_type_1 import RerankAliasScoredDocumentType1
    from .rerank_meta import RerankMeta
    from .rerank_meta_api_version import RerankMetaApiVersion
    from .rerank_meta_billed_units import RerankMetaBilledUnits
    from .rerank_request import RerankRequest
    from .rerank_result import RerankResult
    from .rerank_scored import RerankScored
    from .rerank_usage import RerankUsage
    from .rerank_v1_result import RerankV1Result
    from .rerank_v2_result import RerankV2Result
    from .run_event import RunEvent
    from .source import Source
    from .source_apply_deletions import SourceApplyDeletions
    from .source_begin_run import SourceBeginRun
    from .source_begin_run_mode import SourceBeginRunMode
    from .source_begun import SourceBegun
    from .source_begun_mode import SourceBegunMode
    from .source_begun_status import SourceBegunStatus
    from .source_begun_trigger import SourceBegunTrigger
    from .source_checked import SourceChecked
    from .source_complete_run import SourceCompleteRun
    from .source_deletions import SourceDeletions
    from .source_event import SourceEvent
    from .source_item import SourceItem
    from .source_item_status import SourceItemStatus
    from .source_items import SourceItems
    from .source_kind import SourceKind
    from .source_kinds import SourceKinds
    from .source_listed import SourceListed
    from .source_problem import SourceProblem
    from .source_push_item import SourcePushItem
    from .source_push_items import SourcePushItems
    from .source_pushed import SourcePushed
    from .source_pushed_item import SourcePushedItem
    from .source_pushed_item_status import SourcePushedItemStatus
    from .source_reason import SourceReason
    from .source_run import SourceRun
    from .source_run_item import SourceRunItem
    from .source_run_item_status import SourceRunItemStatus
    from .source_run_items import SourceRunItems
    from .source_run_mode import SourceRunMode
    from .source_run_status import SourceRunStatus
    from .source_run_trigger import SourceRunTrigger
    from .source_runs import SourceRuns
    from .source_schedule import SourceSchedule
    from .source_schedule_output import SourceScheduleOutput
    from .source_state import SourceState
    from .sources import Sources
    from .sources_delete_documents import SourcesDeleteDocuments
    from .sources_items_list_status import SourcesItemsListStatus
    from .sources_list_state import SourcesListState
    from .sources_runs_items_status import SourcesRunsItemsStatus
    from .status_check import StatusCheck
    from .status_check_status import StatusCheckStatus
    from .status_deep import StatusDeep
    from .status_deep_checks import StatusDeepChecks
    from .status_deep_status import StatusDeepStatus
    from .status_health import StatusHealth
    from .status_health_status import StatusHealthStatus
    from .sync_source import SyncSource
    from .update_source import UpdateSource
    from .update_source_deletions import UpdateSourceDeletions
    from .update_source_secrets import UpdateSourceSecrets
    from .usage_all_kept import UsageAllKept
    from .usage_change_quotas import UsageChangeQuotas
    from .usage_kept import UsageKept
    from .usage_quota import UsageQuota
    from .usage_quotas import UsageQuotas
    from .usage_row import UsageRow
    from .usage_rows import UsageRows
    from .user_event import UserEvent
    from .webhook import Webhook
    from .webhook_attempt import WebhookAttempt
    from .webhook_change import WebhookChange
    from .webhook_change_kinds_type_0_item import WebhookChangeKindsType0Item
    from .webhook_change_of import WebhookChangeOf
    from .webhook_change_of_kinds_type_0_item import WebhookChangeOfKindsType0Item
    from .webhook_create import WebhookCreate
    from .webhook_create_kinds_item import WebhookCreateKindsItem
    from .webhook_create_of import WebhookCreateOf
    from .webhook_create_of_kinds_item import WebhookCreateOfKindsItem
    from .webhook_create_of_signature import WebhookCreateOfSignature
    from .webhook_create_signature import WebhookCreateSignature
    from .webhook_deleted import WebhookDeleted
    from .webhook_deliveries import WebhookDeliveries
    from .webhook_delivery import WebhookDelivery
    from .webhook_delivery_status import WebhookDeliveryStatus
    from .webhook_event import WebhookEvent
    from .webhook_made import WebhookMade
    from .webhook_made_signature import WebhookMadeSignature
    from .webhook_made_state import WebhookMadeState
    from .webhook_recover import WebhookRecover
    from .webhook_recover_of import WebhookRecoverOf
    from .webhook_recovered import WebhookRecovered
    from .webhook_rotate import WebhookRotate
    from .webhook_rotate_of import WebhookRotateOf
    from .webhook_secret import WebhookSecret
    from .webhook_signature import WebhookSignature
    from .webhook_state import WebhookState
    from .webhook_tested import WebhookTested
    from .webhooks import Webhooks
    from .webhooks_deliveries_list_status import WebhooksDeliveriesListStatus
    from .write_documents import WriteDocuments
    from .written_document import WrittenDocument

_MODULES = {
    "AdminAuditExportActor": ".admin_audit_export_actor",
    "AdminAuditExportCsvActor": ".admin_audit_export_csv_actor",
    "AdminAuditListActor": ".admin_audit_list_actor",
    "AdminCertificate": ".admin_certificate",
    "AdminChangeIntegration": ".admin_change_integration",
    "AdminChangeKey": ".admin_change_key",
    "AdminChangeKeyLimits": ".admin_change_key_limits",
    "AdminChangeOrganization": ".admin_change_organization",
    "AdminConfiguration": ".admin_configuration",
    "AdminCreateIntegration": ".admin_create_integration",
    "AdminCreateIntegrationKey": ".admin_create_integration_key",
    "AdminCreateIntegrationKeyKind": ".admin_create_integration_key_kind",
    "AdminCreateIntegrationKeyLimits": ".admin_create_integration_key_limits",
    "AdminCreateIntegrationKeyScopesItem": ".admin_create_integration_key_scopes_item",
    "AdminCreateKey": ".admin_create_key",
    "AdminCreateKeyKind": ".admin_create_key_kind",
    "AdminCreateKeyLimits": ".admin_create_key_limits",
    "AdminCreateOrganization": ".admin_create_organization",
    "AdminDeleted": ".admin_deleted",
    "AdminDiscarded": ".admin_discarded",
    "AdminDocumentLine": ".admin_document_line",
    "AdminDocumentLineType": ".admin_document_line_type",
    "AdminEndLine": ".admin_end_line",
    "AdminEndLineType": ".admin_end_line_type",
    "AdminEndUser": ".admin_end_user",
    "AdminEndUsers": ".admin_end_users",
    "AdminErrorLine": ".admin_error_line",
    "AdminErrorLineType": ".admin_error_line_type",
    "AdminEventsListKindsItem": ".admin_events_list_kinds_item",
    "AdminExportEnd": ".admin_export_end",
    "AdminExportEndType": ".admin_export_end_type",
    "AdminExportGrant": ".admin_export_grant",
    "AdminExportHead": ".admin_export_head",
    "AdminExportHeadType": ".admin_export_head_type",
    "AdminExportMemory": ".admin_export_memory",
    "AdminExportMemoryType": ".admin_export_memory_type",
    "AdminExportReceipt": ".admin_export_receipt",
    "AdminExportReceiptOperation": ".admin_export_receipt_operation",
    "AdminExportReceiptOutcome": ".admin_export_receipt_outcome",
    "AdminExportReceiptType": ".admin_export_receipt_type",
    "AdminExportRecord": ".admin_export_record",
    "AdminExportRecordStatus": ".admin_export_record_status",
    "AdminExportRecordType": ".admin_export_record_type",
    "AdminHeaderLine": ".admin_header_line",
    "AdminHeaderLineType": ".admin_header_line_type",
    "AdminImportedNamespace": ".admin_imported_namespace",
    "AdminIntegration": ".admin_integration",
    "AdminIntegrations": ".admin_integrations",
    "AdminIssuedKey": ".admin_issued_key",
    "AdminIssuedKeyKind": ".admin_issued_key_kind",
    "AdminIssuedKeyLimits": ".admin_issued_key_limits",
    "AdminIssuedKeyState": ".admin_issued_key_state",
    "AdminJob": ".admin_job",
    "AdminJobError": ".admin_job_error",
    "AdminJobStatus": ".admin_job_status",
    "AdminJobs": ".admin_jobs",
    "AdminJobsListStatus": ".admin_jobs_list_status",
    "AdminKey": ".admin_key",
    "AdminKeyKind": ".admin_key_kind",
    "AdminKeyLimits": ".admin_key_limits",
    "AdminKeyState": ".admin_key_state",
    "AdminKeys": ".admin_keys",
    "AdminNamespace": ".admin_namespace",
    "AdminNamespaceLanguage": ".admin_namespace_language",
    "AdminNamespaceLine": ".admin_namespace_line",
    "AdminNamespaceLineType": ".admin_namespace_line_type",
    "AdminNamespaces": ".admin_namespaces",
    "AdminNamespacesImportOnConflict": ".admin_namespaces_import_on_conflict",
    "AdminOrganization": ".admin_organization",
    "AdminOrganizationDeletion": ".admin_organization_deletion",
    "AdminOrganizationDeletionStatus": ".admin_organization_deletion_status",
    "AdminOrganizationLine": ".admin_organization_line",
    "AdminOrganizationLineType": ".admin_organization_line_type",
    "AdminOrganizationRemoved": ".admin_organization_removed",
    "AdminOrganizations": ".admin_organizations",
    "AdminPartitionLine": ".admin_partition_line",
    "AdminPartitionLineType": ".admin_partition_line_type",
    "AdminQuotaChange": ".admin_quota_change",
    "AdminQuotas": ".admin_quotas",
    "AdminRate": ".admin_rate",
    "AdminRateChange": ".admin_rate_change",
    "AdminReindex": ".admin_reindex",
    "AdminReindexFailed": ".admin_reindex_failed",
    "AdminReindexLanguage": ".admin_reindex_language",
    "AdminReindexUser": ".admin_reindex_user",
    "AdminReindexing": ".admin_reindexing",
    "AdminReindexingStatus": ".admin_reindexing_status",
    "AdminRevoked": ".admin_revoked",
    "AdminRotateKey": ".admin_rotate_key",
    "AdminShadow": ".admin_shadow",
    "AdminShadowState": ".admin_shadow_state",
    "AdminTrailerLine": ".admin_trailer_line",
    "AdminTrailerLineType": ".admin_trailer_line_type",
    "AdminUngranted": ".admin_ungranted",
    "AdminUsageExportCsvBy": ".admin_usage_export_csv_by",
    "AdminUsageListBy": ".admin_usage_list_by",
    "AdminWebhooksDeliveriesListStatus": ".admin_webhooks_deliveries_list_status",
    "AuditProblem": ".audit_problem",
    "AuditProblemKind": ".audit_problem_kind",
    "AuditRecord": ".audit_record",
    "AuditRecordActor": ".audit_record_actor",
    "AuditRecords": ".audit_records",
    "AuditVerification": ".audit_verification",
    "CheckOutcome": ".check_outcome",
    "CheckRemoved": ".check_removed",
    "CheckReport": ".check_report",
    "CheckSave": ".check_save",
    "CheckSaveLanguage": ".check_save_language",
    "CheckSaveMode": ".check_save_mode",
    "CheckSaveRetrieversType0Item": ".check_save_retrievers_type_0_item",
    "CheckSaveWeightsType0": ".check_save_weights_type_0",
    "CheckSaved": ".check_saved",
    "CheckSavedLanguage": ".check_saved_language",
    "CheckSavedList": ".check_saved_list",
    "CheckSavedMode": ".check_saved_mode",
    "CheckSavedRetrieversItem": ".check_saved_retrievers_item",
    "CheckSavedWeights": ".check_saved_weights",
    "CheckSource": ".check_source",
    "CheckSourceSecrets": ".check_source_secrets",
    "CreateNamespace": ".create_namespace",
    "CreateNamespaceLanguage": ".create_namespace_language",
    "CreateSource": ".create_source",
    "CreateSourceDeletions": ".create_source_deletions",
    "CreateSourceSecrets": ".create_source_secrets",
    "DatasetContents": ".dataset_contents",
    "DatasetCounts": ".dataset_counts",
    "DatasetDocument": ".dataset_document",
    "DatasetEnd": ".dataset_end",
    "DatasetFailure": ".dataset_failure",
    "DatasetHeader": ".dataset_header",
    "DatasetHeaderFormat": ".dataset_header_format",
    "DatasetHeaderVersion": ".dataset_header_version",
    "DatasetModels": ".dataset_models",
    "DatasetNamespace": ".dataset_namespace",
    "DatasetOrganization": ".dataset_organization",
    "DatasetPartition": ".dataset_partition",
    "DatasetPartitionSpace": ".dataset_partition_space",
    "DatasetTrailer": ".dataset_trailer",
    "Degraded": ".degraded",
    "DegradedPart": ".degraded_part",
    "DegradedReason": ".degraded_reason",
    "DeleteDocuments": ".delete_documents",
    "Document": ".document",
    "DocumentChunk": ".document_chunk",
    "DocumentDeletedSome": ".document_deleted_some",
    "DocumentFailure": ".document_failure",
    "DocumentHead": ".document_head",
    "DocumentInput": ".document_input",
    "DocumentOperation": ".document_operation",
    "DocumentOperationStatus": ".document_operation_status",
    "DocumentPage": ".document_page",
    "DocumentWritten": ".document_written",
    "DocumentsEvent": ".documents_event",
    "DocumentsGetIncludeItem": ".documents_get_include_item",
    "DocumentsListOrder": ".documents_list_order",
    "Error": ".error",
    "ErrorDetail": ".error_detail",
    "Event": ".event",
    "EventData": ".event_data",
    "EventDelivery": ".event_delivery",
    "EventDeliveryStatus": ".event_delivery_status",
    "EventDocumentsData": ".event_documents_data",
    "EventKeyData": ".event_key_data",
    "EventKindInfo": ".event_kind_info",
    "EventKindInfoKeys": ".event_kind_info_keys",
    "EventKindInfoSchema": ".event_kind_info_schema",
    "EventKindList": ".event_kind_list",
    "EventMemoryData": ".event_memory_data",
    "EventModelData": ".event_model_data",
    "EventModelDataKind": ".event_model_data_kind",
    "EventModelDataStatus": ".event_model_data_status",
    "EventNamespaceData": ".event_namespace_data",
    "EventPage": ".event_page",
    "EventQuotaData": ".event_quota_data",
    "EventQuotaDataQuota": ".event_quota_data_quota",
    "EventRunCounts": ".event_run_counts",
    "EventRunData": ".event_run_data",
    "EventRunDataStatus": ".event_run_data_status",
    "EventSourceData": ".event_source_data",
    "EventSourceDataState": ".event_source_data_state",
    "EventTold": ".event_told",
    "EventToldData": ".event_told_data",
    "EventUserData": ".event_user_data",
    "EventWebhookData": ".event_webhook_data",
    "EventWebhookDataReason": ".event_webhook_data_reason",
    "EventsListKindsItem": ".events_list_kinds_item",
    "File": ".file",
    "FileAccepted": ".file_accepted",
    "FileAcceptedStatus": ".file_accepted_status",
    "FileChunk": ".file_chunk",
    "FileFailure": ".file_failure",
    "FileFailureCode": ".file_failure_code",
    "FileForm": ".file_form",
    "FileFormat": ".file_format",
    "FileFormats": ".file_formats",
    "FileOutcome": ".file_outcome",
    "FileStatus": ".file_status",
    "FileUploaded": ".file_uploaded",
    "Filter": ".filter_",
    "KeyEvent": ".key_event",
    "Member": ".member",
    "MemberChange": ".member_change",
    "MemberChangeRole": ".member_change_role",
    "MemberInvite": ".member_invite",
    "MemberInviteRole": ".member_invite_role",
    "MemberInvited": ".member_invited",
    "MemberInvitedRole": ".member_invited_role",
    "MemberInvitedState": ".member_invited_state",
    "MemberRemoved": ".member_removed",
    "MemberRole": ".member_role",
    "MemberState": ".member_state",
    "Members": ".members",
    "Memory": ".memory",
    "MemoryApplied": ".memory_applied",
    "MemoryBackends": ".memory_backends",
    "MemoryBatch": ".memory_batch",
    "MemoryBatchItem": ".memory_batch_item",
    "MemoryCited": ".memory_cited",
    "MemoryCitedPassage": ".memory_cited_passage",
    "MemoryContextBlock": ".memory_context_block",
    "MemoryContextQuery": ".memory_context_query",
    "MemoryContextQueryLanguage": ".memory_context_query_language",
    "MemoryCreateGrant": ".memory_create_grant",
    "MemoryCreateGrantSecrets": ".memory_create_grant_secrets",
    "MemoryDelete": ".memory_delete",
    "MemoryDeleted": ".memory_deleted",
    "MemoryErasedUser": ".memory_erased_user",
    "MemoryError_": ".memory_error",
    "MemoryErrorDetails": ".memory_error_details",
    "MemoryEvent": ".memory_event",
    "MemoryGrant": ".memory_grant",
    "MemoryGrantUpstream": ".memory_grant_upstream",
    "MemoryGranted": ".memory_granted",
    "MemoryGrants": ".memory_grants",
    "MemoryIntegration": ".memory_integration",
    "MemoryMessage": ".memory_message",
    "MemoryMessageOutcome": ".memory_message_outcome",
    "MemoryMessageOutcomeOutcome": ".memory_message_outcome_outcome",
    "MemoryMessageRole": ".memory_message_role",
    "MemoryPage": ".memory_page",
    "MemoryPlane": ".memory_plane",
    "MemoryPlaneStatus": ".memory_plane_status",
    "MemoryQuery": ".memory_query",
    "MemoryQueryLanguage": ".memory_query_language",
    "MemoryQuotas": ".memory_quotas",
    "MemoryReceipt": ".memory_receipt",
    "MemoryReceiptOperation": ".memory_receipt_operation",
    "MemoryReceiptOutcome": ".memory_receipt_outcome",
    "MemoryRecord": ".memory_record",
    "MemoryRecordStatus": ".memory_record_status",
    "MemoryRef": ".memory_ref",
    "MemoryRemember": ".memory_remember",
    "MemoryRemembered": ".memory_remembered",
    "MemoryResult": ".memory_result",
    "MemoryResults": ".memory_results",
    "MemorySave": ".memory_save",
    "MemorySaved": ".memory_saved",
    "MemorySavedBatch": ".memory_saved_batch",
    "MemorySavedOne": ".memory_saved_one",
    "MemoryStatus": ".memory_status",
    "MemoryUpsert": ".memory_upsert",
    "Metadata": ".metadata",
    "Model": ".model",
    "ModelEvent": ".model_event",
    "ModelKind": ".model_kind",
    "ModelList": ".model_list",
    "ModelRuntime": ".model_runtime",
    "ModelStatus": ".model_status",
    "ModelsListKind": ".models_list_kind",
    "Namespace": ".namespace",
    "NamespaceCreated": ".namespace_created",
    "NamespaceCreatedLanguage": ".namespace_created_language",
    "NamespaceDeleted": ".namespace_deleted",
    "NamespaceEvent": ".namespace_event",
    "NamespaceLanguage": ".namespace_language",
    "NamespacePage": ".namespace_page",
    "PortOrigin": ".port_origin",
    "PortSourceCounts": ".port_source_counts",
    "QueryExplain": ".query_explain",
    "QueryHit": ".query_hit",
    "QueryNeighbor": ".query_neighbor",
    "QueryRank": ".query_rank",
    "QueryRequest": ".query_request",
    "QueryRequestLanguage": ".query_request_language",
    "QueryRequestMode": ".query_request_mode",
    "QueryRequestRetrieversType0Item": ".query_request_retrievers_type_0_item",
    "QueryRequestWeightsType0": ".query_request_weights_type_0",
    "QueryRerank": ".query_rerank",
    "QueryRerankOutput": ".query_rerank_output",
    "QueryResult": ".query_result",
    "QueryResultRetrieversItem": ".query_result_retrievers_item",
    "QueryResultScoreKind": ".query_result_score_kind",
    "QuerySpan": ".query_span",
    "QuotaEvent": ".quota_event",
    "RecallAnswer": ".recall_answer",
    "RecallCitation": ".recall_citation",
    "RecallRequest": ".recall_request",
    "RecallRequestLanguage": ".recall_request_language",
    "RecallUsage": ".recall_usage",
    "ReindexComparison": ".reindex_comparison",
    "RerankAliasRequest": ".rerank_alias_request",
    "RerankAliasRequestDocumentsItemType1": ".rerank_alias_request_documents_item_type_1",
    "RerankAliasRequestRankFieldsType0Item": ".rerank_alias_request_rank_fields_type_0_item",
    "RerankAliasScored": ".rerank_alias_scored",
    "RerankAliasScoredDocumentType1": ".rerank_alias_scored_document_type_1",
    "RerankMeta": ".rerank_meta",
    "RerankMetaApiVersion": ".rerank_meta_api_version",
    "RerankMetaBilledUnits": ".rerank_meta_billed_units",
    "RerankRequest": ".rerank_request",
    "RerankResult": ".rerank_result",
    "RerankScored": ".rerank_scored",
    "RerankUsage": ".rerank_usage",
    "RerankV1Result": ".rerank_v1_result",
    "RerankV2Result": ".rerank_v2_result",
    "RunEvent": ".run_event",
    "Source": ".source",
    "SourceApplyDeletions": ".source_apply_deletions",
    "SourceBeginRun": ".source_begin_run",
    "SourceBeginRunMode": ".source_begin_run_mode",
    "SourceBegun": ".source_begun",
    "SourceBegunMode": ".source_begun_mode",
    "SourceBegunStatus": ".source_begun_status",
    "SourceBegunTrigger": ".source_begun_trigger",
    "SourceChecked": ".source_checked",
    "SourceCompleteRun": ".source_complete_run",
    "SourceDeletions": ".source_deletions",
    "SourceEvent": ".source_event",
    "SourceItem": ".source_item",
    "SourceItemStatus": ".source_item_status",
    "SourceItems": ".source_items",
    "SourceKind": ".source_kind",
    "SourceKinds": ".source_kinds",
    "SourceListed": ".source_listed",
    "SourceProblem": ".source_problem",
    "SourcePushItem": ".source_push_item",
    "SourcePushItems": ".source_push_items",
    "SourcePushed": ".source_pushed",
    "SourcePushedItem": ".source_pushed_item",
    "SourcePushedItemStatus": ".source_pushed_item_status",
    "SourceReason": ".source_reason",
    "SourceRun": ".source_run",
    "SourceRunItem": ".source_run_item",
    "SourceRunItemStatus": ".source_run_item_status",
    "SourceRunItems": ".source_run_items",
    "SourceRunMode": ".source_run_mode",
    "SourceRunStatus": ".source_run_status",
    "SourceRunTrigger": ".source_run_trigger",
    "SourceRuns": ".source_runs",
    "SourceSchedule": ".source_schedule",
    "SourceScheduleOutput": ".source_schedule_output",
    "SourceState": ".source_state",
    "Sources": ".sources",
    "SourcesDeleteDocuments": ".sources_delete_documents",
    "SourcesItemsListStatus": ".sources_items_list_status",
    "SourcesListState": ".sources_list_state",
    "SourcesRunsItemsStatus": ".sources_runs_items_status",
    "StatusCheck": ".status_check",
    "StatusCheckStatus": ".status_check_status",
    "StatusDeep": ".status_deep",
    "StatusDeepChecks": ".status_deep_checks",
    "StatusDeepStatus": ".status_deep_status",
    "StatusHealth": ".status_health",
    "StatusHealthStatus": ".status_health_status",
    "SyncSource": ".sync_source",
    "UpdateSource": ".update_source",
    "UpdateSourceDeletions": ".update_source_deletions",
    "UpdateSourceSecrets": ".update_source_secrets",
    "UsageAllKept": ".usage_all_kept",
    "UsageChangeQuotas": ".usage_change_quotas",
    "UsageKept": ".usage_kept",
    "UsageQuota": ".usage_quota",
    "UsageQuotas": ".usage_quotas",
    "UsageRow": ".usage_row",
    "UsageRows": ".usage_rows",
    "UserEvent": ".user_event",
    "Webhook": ".webhook",
    "WebhookAttempt": ".webhook_attempt",
    "WebhookChange": ".webhook_change",
    "WebhookChangeKindsType0Item": ".webhook_change_kinds_type_0_item",
    "WebhookChangeOf": ".webhook_change_of",
    "WebhookChangeOfKindsType0Item": ".webhook_change_of_kinds_type_0_item",
    "WebhookCreate": ".webhook_create",
    "WebhookCreateKindsItem": ".webhook_create_kinds_item",
    "WebhookCreateOf": ".webhook_create_of",
    "WebhookCreateOfKindsItem": ".webhook_create_of_kinds_item",
    "WebhookCreateOfSignature": ".webhook_create_of_signature",
    "WebhookCreateSignature": ".webhook_create_signature",
    "WebhookDeleted": ".webhook_deleted",
    "WebhookDeliveries": ".webhook_deliveries",
    "WebhookDelivery": ".webhook_delivery",
    "WebhookDeliveryStatus": ".webhook_delivery_status",
    "WebhookEvent": ".webhook_event",
    "WebhookMade": ".webhook_made",
    "WebhookMadeSignature": ".webhook_made_signature",
    "WebhookMadeState": ".webhook_made_state",
    "WebhookRecover": ".webhook_recover",
    "WebhookRecoverOf": ".webhook_recover_of",
    "WebhookRecovered": ".webhook_recovered",
    "WebhookRotate": ".webhook_rotate",
    "WebhookRotateOf": ".webhook_rotate_of",
    "WebhookSecret": ".webhook_secret",
    "WebhookSignature": ".webhook_signature",
    "WebhookState": ".webhook_state",
    "WebhookTested": ".webhook_tested",
    "Webhooks": ".webhooks",
    "WebhooksDeliveriesListStatus": ".webhooks_deliveries_list_status",
    "WriteDocuments": ".write_documents",
    "WrittenDocument": ".written_document",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name], __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = (
    "AdminAuditExportActor",
    "AdminAuditExportCsvActor",
    "AdminAuditListActor",
    "AdminCertificate",
    "AdminChangeIntegration",
    "AdminChangeKey",
    "AdminChangeKeyLimits",
    "AdminChangeOrganization",
    "AdminConfiguration",
    "AdminCreateIntegration",
    "AdminCreateIntegrationKey",
    "AdminCreateIntegrationKeyKind",
    "AdminCreateIntegrationKeyLimits",
    "AdminCreateIntegrationKeyScopesItem",
    "AdminCreateKey",
    "AdminCreateKeyKind",
    "AdminCreateKeyLimits",
    "AdminCreateOrganization",
    "AdminDeleted",
    "AdminDiscarded",
    "AdminDocumentLine",
    "AdminDocumentLineType",
    "AdminEndLine",
    "AdminEndLineType",
    "AdminEndUser",
    "AdminEndUsers",
    "AdminErrorLine",
    "AdminErrorLineType",
    "AdminEventsListKindsItem",
    "AdminExportEnd",
    "AdminExportEndType",
    "AdminExportGrant",
    "AdminExportHead",
    "AdminExportHeadType",
    "AdminExportMemory",
    "AdminExportMemoryType",
    "AdminExportReceipt",
    "AdminExportReceiptOperation",
    "AdminExportReceiptOutcome",
    "AdminExportReceiptType",
    "AdminExportRecord",
    "AdminExportRecordStatus",
    "AdminExportRecordType",
    "AdminHeaderLine",
    "AdminHeaderLineType",
    "AdminImportedNamespace",
    "AdminIntegration",
    "AdminIntegrations",
    "AdminIssuedKey",
    "AdminIssuedKeyKind",
    "AdminIssuedKeyLimits",
    "AdminIssuedKeyState",
    "AdminJob",
    "AdminJobError",
    "AdminJobStatus",
    "AdminJobs",
    "AdminJobsListStatus",
    "AdminKey",
    "AdminKeyKind",
    "AdminKeyLimits",
    "AdminKeyState",
    "AdminKeys",
    "AdminNamespace",
    "AdminNamespaceLanguage",
    "AdminNamespaceLine",
    "AdminNamespaceLineType",
    "AdminNamespaces",
    "AdminNamespacesImportOnConflict",
    "AdminOrganization",
    "AdminOrganizationDeletion",
    "AdminOrganizationDeletionStatus",
    "AdminOrganizationLine",
    "AdminOrganizationLineType",
    "AdminOrganizationRemoved",
    "AdminOrganizations",
    "AdminPartitionLine",
    "AdminPartitionLineType",
    "AdminQuotaChange",
    "AdminQuotas",
    "AdminRate",
    "AdminRateChange",
    "AdminReindex",
    "AdminReindexFailed",
    "AdminReindexLanguage",
    "AdminReindexUser",
    "AdminReindexing",
    "AdminReindexingStatus",
    "AdminRevoked",
    "AdminRotateKey",
    "AdminShadow",
    "AdminShadowState",
    "AdminTrailerLine",
    "AdminTrailerLineType",
    "AdminUngranted",
    "AdminUsageExportCsvBy",
    "AdminUsageListBy",
    "AdminWebhooksDeliveriesListStatus",
    "AuditProblem",
    "AuditProblemKind",
    "AuditRecord",
    "AuditRecordActor",
    "AuditRecords",
    "AuditVerification",
    "CheckOutcome",
    "CheckRemoved",
    "CheckReport",
    "CheckSave",
    "CheckSaveLanguage",
    "CheckSaveMode",
    "CheckSaveRetrieversType0Item",
    "CheckSaveWeightsType0",
    "CheckSaved",
    "CheckSavedLanguage",
    "CheckSavedList",
    "CheckSavedMode",
    "CheckSavedRetrieversItem",
    "CheckSavedWeights",
    "CheckSource",
    "CheckSourceSecrets",
    "CreateNamespace",
    "CreateNamespaceLanguage",
    "CreateSource",
    "CreateSourceDeletions",
    "CreateSourceSecrets",
    "DatasetContents",
    "DatasetCounts",
    "DatasetDocument",
    "DatasetEnd",
    "DatasetFailure",
    "DatasetHeader",
    "DatasetHeaderFormat",
    "DatasetHeaderVersion",
    "DatasetModels",
    "DatasetNamespace",
    "DatasetOrganization",
    "DatasetPartition",
    "DatasetPartitionSpace",
    "DatasetTrailer",
    "Degraded",
    "DegradedPart",
    "DegradedReason",
    "DeleteDocuments",
    "Document",
    "DocumentChunk",
    "DocumentDeletedSome",
    "DocumentFailure",
    "DocumentHead",
    "DocumentInput",
    "DocumentOperation",
    "DocumentOperationStatus",
    "DocumentPage",
    "DocumentWritten",
    "DocumentsEvent",
    "DocumentsGetIncludeItem",
    "DocumentsListOrder",
    "Error",
    "ErrorDetail",
    "Event",
    "EventData",
    "EventDelivery",
    "EventDeliveryStatus",
    "EventDocumentsData",
    "EventKeyData",
    "EventKindInfo",
    "EventKindInfoKeys",
    "EventKindInfoSchema",
    "EventKindList",
    "EventMemoryData",
    "EventModelData",
    "EventModelDataKind",
    "EventModelDataStatus",
    "EventNamespaceData",
    "EventPage",
    "EventQuotaData",
    "EventQuotaDataQuota",
    "EventRunCounts",
    "EventRunData",
    "EventRunDataStatus",
    "EventSourceData",
    "EventSourceDataState",
    "EventTold",
    "EventToldData",
    "EventUserData",
    "EventWebhookData",
    "EventWebhookDataReason",
    "EventsListKindsItem",
    "File",
    "FileAccepted",
    "FileAcceptedStatus",
    "FileChunk",
    "FileFailure",
    "FileFailureCode",
    "FileForm",
    "FileFormat",
    "FileFormats",
    "FileOutcome",
    "FileStatus",
    "FileUploaded",
    "Filter",
    "KeyEvent",
    "Member",
    "MemberChange",
    "MemberChangeRole",
    "MemberInvite",
    "MemberInviteRole",
    "MemberInvited",
    "MemberInvitedRole",
    "MemberInvitedState",
    "MemberRemoved",
    "MemberRole",
    "MemberState",
    "Members",
    "Memory",
    "MemoryApplied",
    "MemoryBackends",
    "MemoryBatch",
    "MemoryBatchItem",
    "MemoryCited",
    "MemoryCitedPassage",
    "MemoryContextBlock",
    "MemoryContextQuery",
    "MemoryContextQueryLanguage",
    "MemoryCreateGrant",
    "MemoryCreateGrantSecrets",
    "MemoryDelete",
    "MemoryDeleted",
    "MemoryErasedUser",
    "MemoryErrorDetails",
    "MemoryError_",
    "MemoryEvent",
    "MemoryGrant",
    "MemoryGrantUpstream",
    "MemoryGranted",
    "MemoryGrants",
    "MemoryIntegration",
    "MemoryMessage",
    "MemoryMessageOutcome",
    "MemoryMessageOutcomeOutcome",
    "MemoryMessageRole",
    "MemoryPage",
    "MemoryPlane",
    "MemoryPlaneStatus",
    "MemoryQuery",
    "MemoryQueryLanguage",
    "MemoryQuotas",
    "MemoryReceipt",
    "MemoryReceiptOperation",
    "MemoryReceiptOutcome",
    "MemoryRecord",
    "MemoryRecordStatus",
    "MemoryRef",
    "MemoryRemember",
    "MemoryRemembered",
    "MemoryResult",
    "MemoryResults",
    "MemorySave",
    "MemorySaved",
    "MemorySavedBatch",
    "MemorySavedOne",
    "MemoryStatus",
    "MemoryUpsert",
    "Metadata",
    "Model",
    "ModelEvent",
    "ModelKind",
    "ModelList",
    "ModelRuntime",
    "ModelStatus",
    "ModelsListKind",
    "Namespace",
    "NamespaceCreated",
    "NamespaceCreatedLanguage",
    "NamespaceDeleted",
    "NamespaceEvent",
    "NamespaceLanguage",
    "NamespacePage",
    "PortOrigin",
    "PortSourceCounts",
    "QueryExplain",
    "QueryHit",
    "QueryNeighbor",
    "QueryRank",
    "QueryRequest",
    "QueryRequestLanguage",
    "QueryRequestMode",
    "QueryRequestRetrieversType0Item",
    "QueryRequestWeightsType0",
    "QueryRerank",
    "QueryRerankOutput",
    "QueryResult",
    "QueryResultRetrieversItem",
    "QueryResultScoreKind",
    "QuerySpan",
    "QuotaEvent",
    "RecallAnswer",
    "RecallCitation",
    "RecallRequest",
    "RecallRequestLanguage",
    "RecallUsage",
    "ReindexComparison",
    "RerankAliasRequest",
    "RerankAliasRequestDocumentsItemType1",
    "RerankAliasRequestRankFieldsType0Item",
    "RerankAliasScored",
    "RerankAliasScoredDocumentType1",
    "RerankMeta",
    "RerankMetaApiVersion",
    "RerankMetaBilledUnits",
    "RerankRequest",
    "RerankResult",
    "RerankScored",
    "RerankUsage",
    "RerankV1Result",
    "RerankV2Result",
    "RunEvent",
    "Source",
    "SourceApplyDeletions",
    "SourceBeginRun",
    "SourceBeginRunMode",
    "SourceBegun",
    "SourceBegunMode",
    "SourceBegunStatus",
    "SourceBegunTrigger",
    "SourceChecked",
    "SourceCompleteRun",
    "SourceDeletions",
    "SourceEvent",
    "SourceItem",
    "SourceItemStatus",
    "SourceItems",
    "SourceKind",
    "SourceKinds",
    "SourceListed",
    "SourceProblem",
    "SourcePushItem",
    "SourcePushItems",
    "SourcePushed",
    "SourcePushedItem",
    "SourcePushedItemStatus",
    "SourceReason",
    "SourceRun",
    "SourceRunItem",
    "SourceRunItemStatus",
    "SourceRunItems",
    "SourceRunMode",
    "SourceRunStatus",
    "SourceRunTrigger",
    "SourceRuns",
    "SourceSchedule",
    "SourceScheduleOutput",
    "SourceState",
    "Sources",
    "SourcesDeleteDocuments",
    "SourcesItemsListStatus",
    "SourcesListState",
    "SourcesRunsItemsStatus",
    "StatusCheck",
    "StatusCheckStatus",
    "StatusDeep",
    "StatusDeepChecks",
    "StatusDeepStatus",
    "StatusHealth",
    "StatusHealthStatus",
    "SyncSource",
    "UpdateSource",
    "UpdateSourceDeletions",
    "UpdateSourceSecrets",
    "UsageAllKept",
    "UsageChangeQuotas",
    "UsageKept",
    "UsageQuota",
    "UsageQuotas",
    "UsageRow",
    "UsageRows",
    "UserEvent",
    "Webhook",
    "WebhookAttempt",
    "WebhookChange",
    "WebhookChangeKindsType0Item",
    "WebhookChangeOf",
    "WebhookChangeOfKindsType0Item",
    "WebhookCreate",
    "WebhookCreateKindsItem",
    "WebhookCreateOf",
    "WebhookCreateOfKindsItem",
    "WebhookCreateOfSignature",
    "WebhookCreateSignature",
    "WebhookDeleted",
    "WebhookDeliveries",
    "WebhookDelivery",
    "WebhookDeliveryStatus",
    "WebhookEvent",
    "WebhookMade",
    "WebhookMadeSignature",
    "WebhookMadeState",
    "WebhookRecover",
    "WebhookRecoverOf",
    "WebhookRecovered",
    "WebhookRotate",
    "WebhookRotateOf",
    "WebhookSecret",
    "WebhookSignature",
    "WebhookState",
    "WebhookTested",
    "Webhooks",
    "WebhooksDeliveriesListStatus",
    "WriteDocuments",
    "WrittenDocument",
)
