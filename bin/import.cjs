// Node's own `import`, because compiled code (compile.js) has none.
module.exports = (url) => import(url)
