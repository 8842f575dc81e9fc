/** The target of an upload: a dataset, and a folder in it. */
export interface UploadTarget {
  readonly dataset: string
  readonly datasetName: string
  readonly folder?: string | undefined
}

/** What is stored of a batch so that it continues after a reload: what to send, never the bytes. */
export interface StoredBatch {
  readonly id: string
  /** The owner: other users never get it. */
  readonly user: string
  readonly target: UploadTarget
  readonly files: readonly StoredFile[]
}

export interface StoredFile {
  readonly path: string
  readonly size: number
  readonly lastModified: number
  readonly handle?: FileSystemFileHandle | undefined
  /** The ID of a file of this path and size that was in the dataset when this one was added. */
  readonly before?: string | undefined
}

const open = (): Promise<IDBDatabase> =>
  new Promise((resolve, reject) => {
    const request = indexedDB.open('pounce-uploads', 1)
    request.onupgradeneeded = () => {
      request.result.createObjectStore('batches', { keyPath: 'id' })
      request.result.createObjectStore('addresses')
    }
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

let database: Promise<IDBDatabase> | undefined

/** The browser's storage can be full or blocked: uploads then work, but do not continue after a reload. */
const run = async <T>(
  store: 'batches' | 'addresses',
  mode: IDBTransactionMode,
  act: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T | undefined> => {
  try {
    database ??= open()
    const transaction = (await database).transaction(store, mode)
    const request = act(transaction.objectStore(store))
    return await new Promise<T>((resolve, reject) => {
      transaction.oncomplete = () => resolve(request.result)
      transaction.onerror = () => reject(transaction.error)
      transaction.onabort = () => reject(transaction.error)
    })
  } catch {
    return undefined
  }
}

export const storeBatch = (batch: StoredBatch): Promise<unknown> => run('batches', 'readwrite', store => store.put(batch))
export const removeBatch = (id: string): Promise<unknown> => run('batches', 'readwrite', store => store.delete(id))
export const storedBatches = async (): Promise<readonly StoredBatch[]> =>
  (await run<StoredBatch[]>('batches', 'readonly', store => store.getAll())) ?? []

export const storedBatch = (id: string): Promise<StoredBatch | undefined> =>
  run<StoredBatch | undefined>('batches', 'readonly', store => store.get(id) as IDBRequest<StoredBatch | undefined>)

/** Ends the locks of the batches that this tab uploads. */
const locked = new Map<string, () => void>()

/**
 * Makes this tab the only one that uploads a batch, until `unlockBatch` or the end of the page; false if another tab already is. Without https, browsers
 * have no locks.
 */
export const lockBatch = (id: string): Promise<boolean> =>
  new Promise(resolve => {
    if (!navigator.locks) return resolve(true)
    const hold = (lock: Lock | null): Promise<void> | undefined => {
      resolve(lock !== null)
      return lock ? new Promise(unlock => locked.set(id, unlock)) : undefined
    }
    void navigator.locks.request(`pounce-upload-${id}`, { ifAvailable: true }, hold)
  })

export const unlockBatch = (id: string): void => {
  locked.get(id)?.()
  locked.delete(id)
}

/** The URL of a resumable upload, by batch and path. */
export const storeAddress = (key: string, address: string): Promise<unknown> =>
  run('addresses', 'readwrite', store => store.put(address, key))
export const storedAddress = (key: string): Promise<string | undefined> =>
  run<string | undefined>('addresses', 'readonly', store => store.get(key) as IDBRequest<string | undefined>)
export const removeAddress = (key: string): Promise<unknown> => run('addresses', 'readwrite', store => store.delete(key))
