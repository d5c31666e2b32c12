// Node's own `import`, which compiled code (compile.js) lacks.
module.exports = (url) => import(url)
