import type { Shape } from './shape.ts'

/** The documented shapes of the answers, typed out by hand. */

const nullable = (shape: Shape): Shape => ({ orNull: shape })

const organicFields = {
  position: 'integer',
  title: 'text',
  link: 'url',
  domain: 'text',
  source: 'text',
  snippet: 'text',
  displayed_link: 'text',
  snippet_matched: { list: 'text' },
} as const

const newsFields = { ...organicFields, date: 'text' } as const
const videoFields = {
  ...newsFields,
  channel: 'text',
  duration: 'text',
  video_id: nullable('text'),
} as const

const short: Shape = {
  list: {
    fields: {
      link: 'url',
      title: 'text',
      domain: 'text',
      snippet: nullable('text'),
      position: 'integer',
    },
  },
}

const imageFields = {
  url: 'url',
  link: 'url',
  title: 'text',
  domain: 'text',
  source: 'text',
  position: 'integer',
  image_width: 'integer',
  image_height: 'integer',
} as const

const pages = { next: 'integer', current: 'integer', has_next_page: 'boolean' } as const
const longPagination: Shape = { fields: { ...pages, other_pages: { list: 'integer' } } }
const newsPagination: Shape = { fields: pages, optional: { other_pages: { list: 'integer' } } }
const shortPagination: Shape = { fields: pages }

function longEcho(engine: string): Shape {
  return {
    fields: {
      q: 'text',
      gl: 'text',
      hl: 'text',
      num: 'integer',
      page: 'integer',
      uule: nullable('text'),
      location: nullable('text'),
      engine: { only: [engine] },
    },
  }
}

const knowledgeGraph: Shape = {
  fields: {
    type: 'text',
    title: 'text',
    website: 'url',
    attributes: { values: 'text' },
    description: 'text',
    description_link: 'url',
    description_source: 'text',
  },
}

const information: Shape = {
  fields: { total_results: nullable('integer'), time_taken_displayed: nullable('number') },
  optional: { error: 'text' },
}

export const webSearch: Shape = {
  fields: {
    pagination: longPagination,
    organic_results: { list: { fields: organicFields } },
    search_parameters: longEcho('alpha'),
  },
  optional: {
    knowledge_graph: knowledgeGraph,
    related_searches: { list: { fields: { query: 'text' } } },
    search_information: information,
  },
}

export const light: Shape = {
  fields: {
    organic_results: {
      list: {
        fields: {
          link: 'url',
          title: 'text',
          source: 'text',
          snippet: nullable('text'),
          position: 'integer',
        },
      },
    },
    search_parameters: { fields: { q: 'text', gl: 'text', hl: 'text', engine: { only: ['alpha'] } } },
  },
}

export const autocomplete: Shape = { fields: { suggestions: { list: 'text' } } }

const block: Shape = {
  anyOf: [
    { fields: { type: { only: ['paragraph', 'heading'] }, snippet: 'text' } },
    { fields: { type: { only: ['list'] }, list: { list: { fields: { snippet: 'text' } } } } },
  ],
}

export const ai: Shape = {
  fields: {
    references: { list: { fields: { link: 'url', index: 'integer', title: 'text', source: 'text' } } },
    text_blocks: { list: block },
    reconstructed_markdown: 'text',
    search_parameters: {
      fields: { q: 'text', gl: 'text', hl: 'text', engine: { only: ['alpha_ai_mode'] } },
    },
  },
}

export const news: Shape = {
  fields: {
    pagination: newsPagination,
    organic_results: { list: { fields: newsFields } },
    search_parameters: longEcho('alpha_news'),
  },
}

export const videos: Shape = {
  fields: {
    organic_results: { list: { fields: videoFields } },
    search_parameters: longEcho('alpha_videos'),
  },
}

export const images: Shape = {
  fields: {
    images: { list: { fields: imageFields } },
    search_parameters: {
      fields: { q: 'text', gl: 'text', hl: 'text', page: 'integer', engine: { only: ['alpha'] } },
    },
  },
}

export const beta: Shape = {
  fields: {
    pagination: shortPagination,
    organic_results: short,
    search_parameters: { fields: { q: 'text', cc: 'text', page: 'integer', engine: { only: ['beta'] } } },
  },
}

export const gamma: Shape = {
  fields: {
    organic_results: short,
    search_parameters: { fields: { q: 'text', page: 'integer', engine: { only: ['gamma'] } } },
  },
}

export const gammaImages: Shape = {
  fields: {
    images: { list: { fields: { ...imageFields, thumbnail: 'url' } } },
    search_parameters: {
      fields: {
        q: 'text',
        gl: 'text',
        hl: 'text',
        page: 'integer',
        safe: 'text',
        safesearch: 'text',
        engine: { only: ['gamma_images'] },
      },
    },
  },
}
