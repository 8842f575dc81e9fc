import { Invalid, type License } from 'pounce/sdk'
import type { ReceivedBag } from './received-bag.ts'
import { infoLimits, metadataLimits, type Sidecars } from './sidecars.ts'
import { elementsNamed, readXml, type XmlElement, XmlFault } from './xml-reader.ts'

const maxXmlBytes = 4 * 1024 * 1024
const maxCreators = 1000
const maxTags = 1000

/** The description of the dataset in a bag. */
export interface DatasetDescription {
  readonly name: string
  readonly description: string
  readonly creators: readonly string[]
  readonly tags: readonly string[]
  readonly license: License | undefined
}

/** The description of a file in a bag. */
export interface FileDescription {
  readonly name: string | undefined
  readonly description: string
  readonly contentType: string | undefined
  readonly created: string | undefined
  readonly license: License | undefined
  readonly tags: readonly string[]
}

type Info = Readonly<Record<string, unknown>>

const readInfo = async (sidecars: Sidecars, path: string | undefined): Promise<Info> => {
  const value = path === undefined ? {} : await sidecars.json(path, infoLimits)
  return typeof value === 'object' && value !== null ? (value as Info) : {}
}

/** v1 does not escape names in its XML, which may therefore be malformed; its JSON contains the same data. */
const readDescribing = async (bag: ReceivedBag, path: string): Promise<XmlElement | undefined> => {
  const text = await bag.text(path, maxXmlBytes)
  if (text === undefined) return undefined
  try {
    return await readXml(text)
  } catch (error) {
    if (!(error instanceof XmlFault)) throw error
    if (bag.isV1 && !error.isForbidden) return undefined
    throw new Invalid(`${path} is invalid: ${error.message}`, { cause: error })
  }
}

/** One line of at most `maxLength` characters, without control characters. */
const line = (text: unknown, maxLength: number): string =>
  typeof text === 'string'
    ? [
        ...text
          .toWellFormed()
          .replace(/[\s\p{Cc}]+/gu, ' ')
          .trim(),
      ]
        .slice(0, maxLength)
        .join('')
    : ''

const prose = (text: unknown): string =>
  typeof text === 'string'
    ? text
        .replace(/\r\n?/g, '\n')
        .replace(/[^\P{Cc}\n\t]/gu, '')
        .slice(0, 10_000)
        .toWellFormed()
    : ''

const lines = (values: unknown, longest: number, most: number): readonly string[] | undefined => {
  if (!Array.isArray(values)) return undefined
  return [...new Set(values.map(value => line(value, longest)).filter(text => text !== ''))].slice(0, most)
}

const types: Readonly<Record<string, string>> = { 'Creative Commons': 'license2', 'Public Domain Dedication': 'license3' }

/** A license as v1 or Pounce describes it. */
const licenseOf = (given: unknown): License | undefined => {
  if (typeof given !== 'object' || given === null) return undefined
  const { licenseText, rightsHolder, licenseType, licenseUrl, allowDownload } = given as Info
  const holder = line(rightsHolder, 500)
  const type = line(licenseType, 500) || (types[holder] ?? 'license1')
  return {
    type,
    url: line(licenseUrl, 2000),
    text: prose(licenseText) || 'All Rights Reserved',
    rightsHolder: holder === 'None' ? '' : holder,
    allowDownload: typeof allowDownload === 'boolean' ? allowDownload : type !== 'license1',
  }
}

const texts = (within: XmlElement | undefined, name: string): readonly string[] =>
  within ? elementsNamed(within, name).map(({ text }) => text) : []

/** v1's tags: one element each, or all in one, separated by commas. */
const tagsIn = (clowder: XmlElement | undefined): readonly string[] => {
  const [tags] = clowder ? elementsNamed(clowder, 'tags') : []
  if (!tags) return []
  return tags.children.length > 0 ? tags.children.map(({ text }) => text) : tags.text.split(',')
}

/**
 * From `metadata/datacite.xml` as v1 reads it; missing fields from the JSON, then `bag-info.txt`, then the name of the bag's folder. An
 * archive that is a bag only by its `datacite.xml` must name its dataset, as in v1.
 */
export const describeDataset = async (
  bag: ReceivedBag,
  infoPath: string | undefined,
  archiveName: string,
  sidecars: Sidecars,
): Promise<DatasetDescription> => {
  const [datacite, clowder, info] = [
    await readDescribing(bag, 'metadata/datacite.xml'),
    await readDescribing(bag, 'metadata/clowder.xml'),
    await readInfo(sidecars, infoPath),
  ]
  const names = [
    texts(datacite, 'title').at(-1),
    info['name'],
    bag.info.get('external-identifier'),
    ...(bag.isV1 ? [] : [bag.folder, archiveName.replace(/\.zip$/i, ''), 'Bag']),
  ]
  const name = names.map(text => line(text, 500)).find(text => text !== '')
  if (name === undefined) throw new Invalid(`No dataset info found in ${archiveName}`)
  const descriptions = [texts(datacite, 'description').at(-1), info['description'], bag.info.get('external-description')]
  const subjects = [...tagsIn(clowder), ...texts(datacite, 'subject')]
  return {
    name,
    description: descriptions.map(prose).find(text => text !== '') ?? '',
    creators: lines(info['creators'], 300, maxCreators) ?? lines(texts(datacite, 'creatorName'), 300, maxCreators) ?? [],
    tags: lines(info['tags'], 100, maxTags) ?? lines(subjects, 100, maxTags) ?? [],
    license: licenseOf(info['license']),
  }
}

/** Not in the future. */
const creationOf = (ms: number | undefined): string | undefined =>
  ms === undefined || ms > Date.now() || ms < 0 ? undefined : new Date(ms).toISOString()

const isFileName = (name: unknown): name is string =>
  typeof name === 'string' &&
  name.length <= 255 &&
  name.isWellFormed() &&
  /^(?=\s*\S)(?!\.{1,2}$)[^\u0000-\u001f\u007f-\u009f/\\]+$/.test(name)

/** Names of folders that have other names in the bag, by path. */
export const describeFolders = async (bag: ReceivedBag, sidecars: Sidecars): Promise<ReadonlyMap<string, string>> => {
  const path = 'metadata/folder-names.json'
  const names = bag.has(path) ? await sidecars.json(path, metadataLimits) : {}
  return new Map(Object.entries(names ?? {}).filter((entry): entry is [string, string] => isFileName(entry[1])))
}

/** From `X_info.json`, if there is one. */
export const describeFile = async (sidecars: Sidecars, infoPath: string | undefined): Promise<FileDescription> => {
  const info = await readInfo(sidecars, infoPath)
  const { filename, contentType } = info
  return {
    name: isFileName(filename) ? filename : undefined,
    description: prose(info['description']),
    contentType:
      typeof contentType === 'string' && /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(contentType) ? contentType.toLowerCase() : undefined,
    created: creationOf(sidecars.dates.msOf(info['uploadDate'])),
    license: licenseOf(info['license']),
    tags: lines(info['tags'], 100, maxTags) ?? [],
  }
}
