import { type CallerName, type JobKeyCaller, jobKeys } from '../callers.ts'
import type { Letter } from './letters.ts'

/**
 * What extractors call (reference, extraction §5.2, §8, §9): the only routes that take the key of a job. Every other one refuses it, whatever it is about.
 */
const routes: ReadonlySet<string> = new Set([
  // the file: bytes, what is known of it, what extractors said of it
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
  ...['getExtractionStatus', 'isFileBeingProcessed'],
  // what is made of it
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
  // the extractor itself
  ...['registerExtractor', 'listExtractors', 'getExtractor', 'listExtractorNames'],
])

export const isJobKey = (caller: CallerName): caller is JobKeyCaller => jobKeys.some(name => name === caller)

export const takesJobKeys = (route: string): boolean => routes.has(route)

/** Routes whose request names something that is another extractor's: it, a tile that no job uploaded, or a file that no job is to archive. What is their own is for `test/api/job-keys.test.ts`. */
const ofOthers: Readonly<Record<string, Letter>> = { registerExtractor: 'n', attachTile: 'u', archiveFile: 'n', unarchiveFile: 'n' }

/** Why the request that the matrix makes of a route is refused all the same; undefined when it is not. */
export const refusalOfRequest = (route: string): Letter | undefined => ofOthers[route]

/** What is there for both jobs: the dataset of `lab` with all that lies in it, and nothing that contains it. */
const reached: ReadonlySet<string> = new Set(['dataset', 'folder', 'file', 'section', 'preview', 'thumbnail', 'metadata'])

/** A right on a resource: there is nothing but the lab's dataset, and the job of a file only adds to that. */
export const jobLetter = (caller: JobKeyCaller, permission: string, kind: string, state: string): Letter => {
  if (state !== 'lab' || !reached.has(kind)) return 'u'
  return caller === 'fileJobKey' && permission === 'EditDataset' ? 'n' : 'y'
}
