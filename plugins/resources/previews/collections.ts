import { collection, type PreviewRecord, type Stored, type ThumbnailRecord, type Time } from 'pounce/sdk'
import { createdBy, personalRecords } from 'pounce/sdk/kit'

export type Preview = PreviewRecord & Stored
export type Thumbnail = ThumbnailRecord & Stored

/** Previews; those of one resource in order of creation. */
export const previews = collection<PreviewRecord>()('previews', {
  byTarget: { on: ['target.id', 'created'] },
  byBlob: { on: ['blob'] },
  byCreated: { on: ['created'] },
})

/** Thumbnails. Of concurrent attachments to one resource, one is the last: their times are unique. */
export const thumbnails = collection<ThumbnailRecord>()('thumbnails', {
  byTarget: { on: ['target.id'] },
  byAge: { on: ['target.id', 'created'] },
  byAttached: { on: ['target.id', 'attached'], unique: true },
  byBlob: { on: ['blob'] },
  byCreated: { on: ['created'] },
})

/** A tile of a Deep Zoom preview. */
export interface TileRecord {
  readonly blob: string
  readonly sizeBytes: number
  readonly contentType: string
  /** `column_row.extension`, as viewers request it. */
  readonly filename: string
  readonly author: string | null
  /** The job whose key uploaded it. */
  readonly job?: string
  readonly created: Time
  readonly preview: string | null
  readonly level: number | null
  /** Preview, level and file name; null until it is attached. Unique. */
  readonly place: string | null
}
export type Tile = TileRecord & Stored

/** Tiles. */
export const tiles = collection<TileRecord>()('previews.tiles', {
  byPlace: { on: ['place'], unique: true },
  byPreview: { on: ['preview', 'created'] },
  byBlob: { on: ['blob'] },
})

export const PersonalTiles = personalRecords({
  name: 'preview-tiles',
  summary: 'Tiles of previews that you or extractors in your name uploaded.',
  in: tiles,
  ...createdBy<TileRecord>('preview', 'filename', 'contentType', 'sizeBytes', 'created'),
})
