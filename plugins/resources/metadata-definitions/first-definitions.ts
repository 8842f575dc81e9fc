import { createHash } from 'node:crypto'

/** A definition that a new installation has. */
export interface FirstDefinition {
  readonly label: string
  readonly uri: string
  readonly type: string
  readonly description: string
  readonly definitionsUrl?: string
}

const dublinCore = (term: string): string => `http://purl.org/dc/terms/${term}`

const sead = (term: string): string => `http://sead-data.net/terms/${term}`

const odm2 = (term: string) => ({
  uri: `http://vocabulary.odm2.org/${term}/`,
  definitionsUrl: `http://vocabulary.odm2.org/api/v1/${term}/?format=json`,
})

/**
 * The eighteen definitions of a new installation (reference, api-data §8): the vocabularies are those of Clowder 1.x, the descriptions are
 * ours.
 */
export const firstDefinitions: readonly FirstDefinition[] = [
  { label: 'Alternative Title', uri: dublinCore('alternative'), type: 'string', description: 'Another name of the resource' },
  { label: 'Audience', uri: dublinCore('audience'), type: 'string', description: 'For whom the resource is meant or useful' },
  { label: 'References', uri: dublinCore('references'), type: 'string', description: 'What the resource refers to, cites or points to' },
  { label: 'Date and Time', uri: dublinCore('date'), type: 'datetime', description: 'A time in the life of the resource' },
  { label: 'Period Of Time', uri: dublinCore('PeriodOfTime'), type: 'string', description: 'The time that the resource is about' },
  {
    label: 'CSDMS Standard Name',
    uri: 'http://csdms.colorado.edu/wiki/CSN_Searchable_List',
    type: 'string',
    description: 'A name of a quantity, from the standard names of CSDMS',
  },
  { label: 'ODM2 Variable Name', ...odm2('variablename'), type: 'list', description: 'What was observed, from the vocabulary of ODM2' },
  { label: 'ODM2 Units', ...odm2('units'), type: 'list', description: 'The unit of what was observed, from the vocabulary of ODM2' },
  { label: 'ODM2 Medium', ...odm2('medium'), type: 'list', description: 'What was sampled, from the vocabulary of ODM2' },
  {
    label: 'SAS Variable Name',
    uri: 'http://ecgs.ncsa.illinois.edu/gsis/sas/vars',
    type: 'scientific_variable',
    description: 'A quantity by its name in the semantic annotation service, and its unit',
  },
  {
    label: 'SAS Spatial Geocode',
    uri: 'http://ecgs.ncsa.illinois.edu/gsis/sas/geocode',
    type: 'listgeocode',
    description: 'A place by its name, with its latitude and longitude',
  },
  {
    label: 'SAS Annotation',
    uri: 'http://ecgs.ncsa.illinois.edu/gsis/sas/annotation',
    type: 'annotation',
    description: 'Free words, and a standard name for them',
  },
  {
    label: 'Primary/Initial Publication',
    uri: sead('PrimaryInitialPublication'),
    type: 'string',
    description: 'The publication that the resource was first made for',
  },
  {
    label: 'Related Publications',
    uri: sead('RelatedPublications'),
    type: 'string',
    description: 'Publications that use the resource or explain it',
  },
  { label: 'Funding Institution', uri: sead('FundingInstitution'), type: 'string', description: 'Who paid for the work' },
  { label: 'Grant Number', uri: sead('GrantNumber'), type: 'string', description: 'Under which number it was paid for' },
  {
    label: 'GeoJSON',
    uri: 'https://purl.org/geojson/vocab#Feature',
    type: 'wkt',
    description: 'A place as a geometry: well-known text, or GeoJSON',
  },
  {
    label: 'Vega5',
    uri: 'https://vega.github.io/schema/vega/v5.json',
    type: 'annotation',
    description: 'A drawing of the data, as a Vega 5 specification',
  },
]

/** The same id for the same parts, so that repeated creation yields one record. */
export const derivedId = (...parts: readonly string[]): string => createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 24)
