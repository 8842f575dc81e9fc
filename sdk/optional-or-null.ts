import type { TSchema } from 'typebox'
import { Null, Optional, Union } from './schema-builders.ts'

/** A member that may be absent or null: Python scripts send null for missing values. */
export const optionalOrNull = <T extends TSchema>(schema: T) => Optional(Union([schema, Null()]))
