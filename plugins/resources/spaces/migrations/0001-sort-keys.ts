import { collection, type DocumentStore } from 'pounce/sdk'
import { fillSortKeys } from 'pounce/sdk/kit'

/** Adds the keys for sorting lists by name and by the time of the last change. */
export const up = (documents: DocumentStore): Promise<void> => fillSortKeys(documents, collection('spaces'))
