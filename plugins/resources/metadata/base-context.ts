const cat = 'https://clowder.ncsa.illinois.edu/terms#'
const xsd = 'http://www.w3.org/2001/XMLSchema#'

/** What the members of a document mean, apart from its content. Served, and named by what clients send; never fetched from here. */
export const baseContext = {
  '@context': {
    cat,
    prov: 'http://www.w3.org/ns/prov#',
    dcterms: 'http://purl.org/dc/terms/',
    foaf: 'http://xmlns.com/foaf/0.1/',
    agent: 'prov:wasAttributedTo',
    name: 'foaf:name',
    version: 'cat:version',
    user_id: { '@id': 'cat:userId', '@type': '@id' },
    extractor_id: { '@id': 'cat:extractorId', '@type': '@id' },
    created_at: { '@id': 'dcterms:created', '@type': `${xsd}dateTime` },
    attached_to: 'prov:wasDerivedFrom',
    resource_type: { '@id': 'cat:resourceType', '@type': '@id' },
    url: { '@id': 'foaf:page', '@type': '@id' },
    content: 'cat:content',
  },
} as const
