/* `pounce/sdk/testing`: the contract tests of all ports, a server for tests, and test doubles for external services. Only for tests. */

export { MemoryGeoStore } from '../geo/memory-geo-store.ts'
export { advanceClock } from './advance-clock.ts'
export type { ExpectedError, TestContext, TestRunner } from './any-runner.ts'
export {
  type BearerSubject,
  bearerProviderContract,
  type KnownAccount,
  type PasswordSubject,
  passwordProviderContract,
  type RedirectSubject,
  redirectProviderContract,
} from './auth-provider-contract.ts'
export { blobStoreTemporaryUrlContract } from './blob-store-address-contract.ts'
export { blobStoreContract, blobStoreLocalPathContract, type MakeBlobStore, testBytes } from './blob-store-contract.ts'
export { blobStoreCrc32Contract } from './blob-store-crc-contract.ts'
export { type BootOptions, bootForTest, type TestFetch, type TestServer } from './boot-for-test.ts'
export { type BroadcastingServers, broadcasterContract } from './broadcaster-contract.ts'
export { builtInRunsContract } from './built-in-runs-contract.ts'
export { documentStoreContract, documentStoreModel } from './document-store-contract.ts'
export { type ExtractorSubject, extractorContract } from './extractor-contract.ts'
export type { ExtractorCase } from './extractor-runs.ts'
export { fetchBelowContract } from './fetch-below-contract.ts'
export { fetchContract, type MakeFetch } from './fetch-contract.ts'
export { fetchPostContract } from './fetch-post-contract.ts'
export { FixedClock } from './fixed-clock.ts'
export { isFullRun, usualOrFull } from './full-run.ts'
export { type GeoStoreUnderTest, geoStoreContract, geoStoreModel, type MakeGeoStore } from './geo-store-contract.ts'
export { growsLinearly } from './growth.ts'
export { clockContract, idsContract } from './kernel-ports-contract.ts'
export { type LiveServer, type LiveTests, liveTests, skippedBecause } from './live-server.ts'
export { type LogSubject, logContract } from './log-contract.ts'
export { type MailerSubject, mailerContract } from './mailer-contract.ts'
export { eicar, type MalwareScanSubject, malwareScanContract } from './malware-scan-contract.ts'
export { MemoryMailer } from './memory-mailer.ts'
export { metricsContract } from './metrics-contract.ts'
export { type Note, notes } from './notes.ts'
export { outboxContract } from './outbox-contract.ts'
export { previewerContract } from './previewer-contract.ts'
export { searchCorpusContract } from './search-corpus-contract.ts'
export { type MakeSearchIndex, searchIndexContract } from './search-index-contract.ts'
export { silent } from './silent-log.ts'
export { countingIds, type MakeDocumentStore, type StoreTools } from './store-tools.ts'
export { timingDifference } from './timing-difference.ts'
export { type MakeTransport, type TransportUnderTest, transportContract } from './transport-contract.ts'
export { type StatusUnderTest, transportStatusContract } from './transport-status-contract.ts'
export { type BrowserPage, type WebPartSubject, webPartContract } from './web-part-contract.ts'
