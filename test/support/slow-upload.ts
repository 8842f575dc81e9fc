import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'

const boundary = 'slow-upload'

/** A response. */
export interface SlowAnswer {
  readonly status: number
  readonly text: string
}

/** One upload on a separate connection, sent in chunks under control of the test. */
export class SlowUpload {
  /** Rejects when the connection is closed. */
  readonly answer: Promise<SlowAnswer>
  #request: ClientRequest

  /** Sends the headers and the beginning of a file part. `credential`: a key, or headers. `expected`: length of the file in bytes. */
  constructor(url: string, credential: string | Readonly<Record<string, string>>, dataset: string, name: string, expected: number) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="File"; filename="${name}"\r\n\r\n`
    this.#request = request(`${url}/api/uploadToDataset/${dataset}?extract=false`, {
      method: 'POST',
      agent: false,
      headers: {
        ...(typeof credential === 'string' ? { 'x-api-key': credential } : credential),
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

  /** Resolves when the bytes are handed to the operating system. */
  send(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => this.#request.write(bytes, error => (error ? reject(error) : resolve())))
  }

  /** Sends the end of the body; resolves to the response. */
  finish(): Promise<SlowAnswer> {
    this.#request.end(tail)
    return this.answer
  }

  /** Closes the connection abruptly. */
  cut(): void {
    this.#request.destroy()
  }
}

const tail = `\r\n--${boundary}--\r\n`
