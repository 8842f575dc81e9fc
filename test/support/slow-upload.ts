import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'

const boundary = 'slow-upload'

/** What came back. */
export interface SlowAnswer {
  readonly status: number
  readonly text: string
}

/** One upload on a connection of its own, sent piece by piece when the test says so. */
export class SlowUpload {
  /** Rejects when the connection is cut. */
  readonly answer: Promise<SlowAnswer>
  #request: ClientRequest

  /** Sends the head and the beginning of a file part. `expected`: length of the file in bytes. */
  constructor(url: string, key: string, dataset: string, name: string, expected: number) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="File"; filename="${name}"\r\n\r\n`
    this.#request = request(`${url}/api/uploadToDataset/${dataset}?extract=false`, {
      method: 'POST',
      agent: false,
      headers: {
        'x-api-key': key,
        'content-type': `multipart/form-data; boundary=${boundary}`,
        'content-length': head.length + expected + tail.length,
      },
    })
    this.answer = new Promise((resolve, reject) => {
      this.#request.on('error', reject)
      this.#request.on('response', (response: IncomingMessage) => {
        text(response).then(body => resolve({ status: response.statusCode ?? 0, text: body }), reject)
      })
    })
    this.answer.catch(() => undefined)
    this.#request.write(head)
  }

  /** Resolves when the system has taken the bytes. */
  send(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => this.#request.write(bytes, error => (error ? reject(error) : resolve())))
  }

  /** Sends the end of the body; the answer. */
  finish(): Promise<SlowAnswer> {
    this.#request.end(tail)
    return this.answer
  }

  /** Closes the connection without a word. */
  cut(): void {
    this.#request.destroy()
  }
}

const tail = `\r\n--${boundary}--\r\n`
