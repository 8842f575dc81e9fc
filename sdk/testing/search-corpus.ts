import type { SearchScope } from '../ports/policy.ts'
import type { MetadataValue, SearchDocument } from '../ports/search-index.ts'
import { typedValue } from '../search/readings.ts'
import { day, searchDocument, searchId, start } from './search-documents.ts'

/** Number of documents in the corpus. */
export const corpusSize = 2200

export const corpusSpaces = Array.from({ length: 8 }, (_, n) => searchId(700_000 + n))
export const corpusPeople = Array.from({ length: 6 }, (_, n) => searchId(800_000 + n))

/** Callers and the part of the corpus that each may view. */
export const corpusScopes: Readonly<Record<string, SearchScope>> = {
  everything: { all: true },
  visitor: { all: true, unplaced: {} },
  owner: { all: true, unplaced: { author: searchId(800_002) } },
  anonymous: { all: false, spaces: [], includePublic: true },
  member: { all: false, spaces: [searchId(700_001), searchId(700_004)], author: searchId(800_002), includePublic: true },
  author: { all: false, spaces: [], author: searchId(800_003), includePublic: false },
  nobody: { all: false, spaces: [], includePublic: false },
  limited: {
    all: false,
    spaces: [searchId(700_001), searchId(700_004)],
    author: searchId(800_002),
    includePublic: true,
    within: [searchId(700_004), searchId(700_005)],
  },
  inPart: {
    all: false,
    spaces: [searchId(700_001)],
    includePublic: false,
    inPart: [
      { kinds: ['dataset'], spaces: [searchId(700_002), searchId(700_003)] },
      { kinds: ['file', 'collection'], spaces: [searchId(700_003), searchId(700_006)] },
    ],
  },
}

const words = (text: string): readonly string[] => text.split(' ').map(word => word.replaceAll('_', ' '))

const topics = words(
  'soil moisture prairie glacier wheat corn rainfall river sediment nitrogen canopy drone thermal lidar seismic ocean coral reef pollen bark',
)
const things = words('survey sample image table scan log report transect plot gauge sensor map video archive model notes')
const places = words('North South Urbana Illinois Zürich København Łódź São_Paulo Þingvellir Kyōto')
const foreign = words('観測データ 土壌水分 한국어 Ελλάδα ΟΔΟΣ Straße naïve façade Übersicht Привет 🌱 🌊 👩‍🔬 ﬁeld x² Ⅷ')
const anything = [...topics, ...things, ...places, ...foreign]
const people = ['Ada Lovelace', 'Charles Babbage', "Máire O'Neill", 'Ye Wenjie', 'José García', 'Anne-Marie Ødegård']
const types = ['text/csv', 'image/png', 'application/pdf', 'application/vnd.geo+json', undefined]

/** A pseudo-random number generator with a fixed seed. */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state >>> 8) / 2 ** 24
  }
}

interface SeededRandom {
  /** A random element. */
  of<T>(list: readonly T[]): T
  below(most: number): number
  isBelow(part: number): boolean
}

function seededRandom(random: () => number): SeededRandom {
  return {
    of: list => list[Math.floor(random() * list.length)] as (typeof list)[number],
    below: most => Math.floor(random() * most),
    isBelow: part => random() < part,
  }
}

/** Varied documents, the same in every run: three kinds, spaces, public and private, some unlisted, metadata of every shape. */
export function searchCorpus(size = corpusSize): readonly SearchDocument[] {
  const roll = seededRandom(seeded(20_261_121))
  return Array.from({ length: size }, (_, n) => corpusDocument(n, size, roll))
}

function corpusDocument(n: number, size: number, roll: SeededRandom): SearchDocument {
  const topic = roll.of(topics)
  const thing = roll.of(things)
  const person = roll.below(people.length)
  const kind = n % 7 === 0 ? 'dataset' : n % 23 === 0 ? 'collection' : 'file'
  // Unique times, in a different order than the ids.
  const created = new Date(start - 400 * day + ((n * 7919) % size) * 5_400_000 + (n % 3 === 0 ? 0 : 1))
  const contentType = roll.of(types)
  const name = `${roll.isBelow(0.3) ? roll.of(places) : topic}_${thing}-${2018 + roll.below(7)}-${String(n % 300).padStart(4, '0')}.${roll.of(['csv', 'png', 'pdf'])}`
  return searchDocument(n + 1, {
    kind,
    revision: 5,
    name: roll.isBelow(0.1) ? roll.of(foreign) : name,
    description: roll.isBelow(0.6) ? sentence(roll, 3 + roll.below(9)) : '',
    creator: corpusPeople[person] ?? '',
    creatorName: people[person] ?? '',
    creatorEmail: `person.${person}@example.org`,
    created,
    ...(roll.isBelow(0.5) ? { createdAs: `raw_${topic}${roll.below(50)}.${thing}` } : {}),
    ...(contentType === undefined ? {} : { contentType }),
    tags: Array.from({ length: roll.below(4) }, () => roll.of([topic, 'Prairie Grass', 'tree', 'trees', 'QA', 'qa', roll.of(foreign)])),
    comments: roll.isBelow(0.2) ? [sentence(roll, 5), `Seen by ${people[person]}`] : [],
    metadata: corpusMetadata(n, roll),
    ...(roll.isBelow(0.05) ? { text: Array.from({ length: 40 }, () => sentence(roll, 12)).join('. ') } : {}),
    childOf: kind === 'file' ? [searchId(1 + 7 * roll.below(40)), roll.of(corpusSpaces)] : roll.isBelow(0.7) ? [roll.of(corpusSpaces)] : [],
    spaces: Array.from({ length: roll.below(3) }, () => roll.of(corpusSpaces)),
    isPublic: roll.isBelow(0.35),
    isListed: !roll.isBelow(0.05),
  })
}

const sentence = (roll: SeededRandom, length: number): string => Array.from({ length }, () => roll.of(anything)).join(' ')

type Maker = (roll: SeededRandom, n: number) => readonly MetadataValue['value'][]

const makers: Readonly<Record<string, Maker>> = {
  'image.width': roll => [100 * roll.below(60)],
  'pounce-image.width': roll => [640 + roll.below(4)],
  'pounce-image.camera.model': roll => [roll.of(['EOS 5D', 'eos 5d', 'D850', 'α7 III'])],
  depth: roll => [typedValue(roll.of(['1.0', '1', '1e0', '12.5', '12.50', '-3', '0.001', '100', '.5']))],
  'site.label': roll => [roll.of(places), ...(roll.isBelow(0.2) ? ['Field 7'] : [])],
  'site.location.lat': roll => [Math.round(roll.below(180_000) - 90_000) / 1000],
  taken: roll => [
    typedValue(`2021-04-${String(18 + roll.below(4))}${roll.of(['', 'T00:00:00Z', 'T23:59:59.999Z', 'T12:30:00+02:00', ' 08:15'])}`),
  ],
  species: roll =>
    Array.from({ length: 1 + roll.below(3) }, () => roll.of(['Quercus robur', 'Quercus petraea', 'Acer', 'Zea mays', '玉蜀黍'])),
  levels: roll => Array.from({ length: 1 + roll.below(4) }, () => roll.below(12)),
  serial: (_, n) => [typedValue(`12345678901234567${String(890 + (n % 5))}`)],
  big: roll => [roll.of([9_007_199_254_740_991, 1e21, -1e-7, 0, -0])],
  flag: roll => [roll.isBelow(0.5)],
  mixed: roll => [roll.of([7, '7 days', 'seven', new Date('2021-04-19T10:00:00Z'), true, ''])],
  'Funding Institution': roll => [roll.of(['University of Illinois', 'university of illinois', 'Illinois University', 'NSF'])],
  'ncsa_wordcount.lines': roll => [roll.below(1000)],
  name: roll => [roll.of(['inner', 'outer'])],
  note: roll => [
    roll.of([`${'long '.repeat(60)}end`, 'the people of the people', roll.of(foreign), 'a.b/c-d_e', 'http://example.org/x?y=1']),
  ],
}

function corpusMetadata(n: number, roll: SeededRandom): readonly MetadataValue[] {
  return Object.entries(makers).flatMap(([field, make]) => (roll.isBelow(0.3) ? make(roll, n).map(value => ({ field, value })) : []))
}
