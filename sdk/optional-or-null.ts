import type { TSchema } from 'typebox'
import { Null, Optional, Union } from './schema-builders.ts'

/** A member that may be left out, or null: scripts in Python send null for what they do not have. */
export const optionalOrNull = <T extends TSchema>(schema: T) => Optional(Union([schema, Null()]))
