import { type CallerName, type JobKeyCaller, jobKeys } from '../callers.ts'
import type { Letter } from './letters.ts'

/**
 * The routes that extractors call (reference, extraction §5.2, §8, §9). Only these accept the key of a job; all others refuse it for any resource.
 */
const routes: ReadonlySet<string> = new Set([
  // the file: bytes, information, results of extractors
  ...['getFile', 'getFileInfo', 'getFileMetadata', 'getTechnicalFileMetadata', 'getFileTags', 'listFileSections', 'listFilePreviews'],
  ...[
    'addFileMetadata',
    'addPlainFileMetadata',
    'removeFileMetadata',
    'removeMetadata',
    'addFileTags',
    'attachPreview',
    'attachThumbnail',
    'submitFile',
    'archiveFile',
    'unarchiveFile',
  ],
  ...['getExtractionStatus', 'getExtractionMetadata', 'getExtractedMetadata', 'isFileBeingProcessed'],
  // resources derived from it
  ...['uploadPreview', 'describePreview', 'titlePreview', 'getPreview', 'getPreviewInfo', 'uploadThumbnail', 'getThumbnail'],
  ...['uploadTile', 'attachTile', 'getTile', 'createSection', 'getSection', 'describeSection', 'addSectionTags', 'getSectionTags'],
  'attachSectionThumbnail',
  // the dataset
  ...[
    'getDataset',
    'listDatasetFiles',
    'listRootFiles',
    'listFolders',
    'getDatasetMetadata',
    'getTechnicalDatasetMetadata',
    'getDatasetTags',
  ],
  ...['downloadDataset', 'downloadDatasetFolder', 'isDatasetBeingProcessed'],
  ...[
    'addDatasetMetadata',
    'addPlainDatasetMetadata',
    'removeDatasetMetadata',
    'addDatasetTags',
    'uploadToDataset',
    'uploadFilesToDataset',
    'createFolder',
    'ensureFolder',
    'submitDataset',
  ],
  // the extractor itself, and the server
  ...['registerExtractor', 'listExtractors', 'getExtractor', 'listExtractorNames', 'getVersion'],
])

export const isJobKey = (caller: CallerName): caller is JobKeyCaller => jobKeys.some(name => name === caller)

export const takesJobKeys = (route: string): boolean => routes.has(route)

/**
 * Routes whose request in the matrix refers to a resource of another extractor, a tile that no job uploaded, or a file that no job is to archive.
 * Requests for a job's own resources are tested in `test/api/job-keys.test.ts`.
 */
const ofOthers: Readonly<Record<string, Letter>> = { registerExtractor: 'n', attachTile: 'u', archiveFile: 'n', unarchiveFile: 'n' }

/** The refusal of the matrix's request of such a route; undefined if it is not refused. */
export const refusalOfRequest = (route: string): Letter | undefined => ofOthers[route]

/** Kinds that both jobs can access: the dataset of `lab` and its contents, but no container of it. */
const reached: ReadonlySet<string> = new Set(['dataset', 'folder', 'file', 'section', 'preview', 'thumbnail', 'metadata'])

/** A right on a resource: only those of the lab's dataset exist for the jobs, and the job of a file may only add to them. */
export const jobLetter = (caller: JobKeyCaller, permission: string, kind: string, state: string): Letter => {
  if (state !== 'lab' || !reached.has(kind)) return 'u'
  return caller === 'fileJobKey' && permission === 'EditDataset' ? 'n' : 'y'
}
