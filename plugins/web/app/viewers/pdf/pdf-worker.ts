// The worker of pdf.js, built like our own so that it is served as a script.
import 'pdfjs-dist/build/pdf.worker.mjs'
