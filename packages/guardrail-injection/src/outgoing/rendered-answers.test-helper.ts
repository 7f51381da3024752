import MarkdownIt from 'markdown-it'
import { Marked } from 'marked'
import { judgeOutput } from './judge-output.ts'

const pieces = [
  ...`![ [ ] ]( ) ( < > " ' = / \\ \` ! & // : src href style srcset poster background alt url( @import ; , . a x 1 -->
  <!-- <img <svg> <image <input <video <source <iframe <link <div <style> </style> <td <use <a <x-y <object <embed <script>
  </script> <table> <body <math> <br> </ /> ![a](https://evil.example/1) ![a][x] ![a] a![x] [x]: https://evil.example/2 //evil.example/3
  https:evil.example/4 /here.png <https://evil.example/5> http://evil.example/6 &#104;ttps &sol; &Tab; &amp; \\[ \\! rel=stylesheet
  type=image data= xlink:href= srcdoc= ping= src="https://evil.example/7" src=//evil.example/8 style="background:url(//evil.example/9)"
  ** _ # > - 1. \`\`\` ~~~ | \\2f http-equiv=refresh content="0;url=//evil.example/10" data:image/png;base64,AA`
    .trim()
    .split(/\s+/),
  '\n',
  '\n\n',
  ' ',
  '  ',
  '\t',
  '    ',
  '\n> ',
  '\n- ',
  '\r\n',
]

/** Makes answers that are the same each time, and removes from them what `promptInjection()` removes. */
export function randomAnswers(count: number, seed: number): readonly string[] {
  let state = seed
  const random = () => (state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296) / 4_294_967_296
  return Array.from({ length: count }, () => {
    const length = 2 + Math.floor(random() * 14)
    return Array.from({ length }, () => pieces[Math.floor(random() * pieces.length)]).join('')
  })
}

/** Removes from an answer what `promptInjection()` removes. */
export function cleaned(text: string): string {
  const { spans = [], replacement = '' } = {
    replacement: '',
    ...judgeOutput({ text, final: true }, undefined, {}),
  }
  return spans.reduceRight(
    (rest, { start, end }) => rest.slice(0, start) + replacement + rest.slice(end),
    text,
  )
}

const markdownIt = new MarkdownIt({ html: true, linkify: true })
const marked = new Marked()

/** The ways in which an application shows an answer: by two renderers of Markdown, and as HTML. */
export const renderers: Readonly<Record<string, (text: string) => string>> = {
  'markdown-it': (text) => markdownIt.render(text),
  marked: (text) => marked.parse(text, { async: false }),
  html: (text) => text,
}
