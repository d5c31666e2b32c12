// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// Has the function, event, errors and the few checks of Wormhole's Executor, which checks neither a quote's signature
/// nor the amount.
contract Executor {
    uint16 public immutable ourChain;

    event RequestForExecution(
        address indexed quoterAddress,
        uint256 amtPaid,
        uint16 dstChain,
        bytes32 dstAddr,
        address refundAddr,
        bytes signedQuote,
        bytes requestBytes,
        bytes relayInstructions
    );

    error QuoteSrcChainMismatch(uint16 quoteSrcChain, uint16 requestSrcChain);
    error QuoteDstChainMismatch(uint16 quoteDstChain, uint16 requestDstChain);
    error QuoteExpired(uint64 expiryTime);
    error NotAnEvmAddress(bytes32);

    constructor(uint16 chain) {
        ourChain = chain;
    }

    function requestExecution(
        uint16 dstChain,
        bytes32 dstAddr,
        address refundAddr,
        bytes calldata signedQuote,
        bytes calldata requestBytes,
        bytes calldata relayInstructions
    ) external payable {
        check(signedQuote, dstChain);
        bytes32 payee = bytes32(signedQuote[24:56]);
        require(bytes12(payee) == 0, NotAnEvmAddress(payee));
        payable(address(uint160(uint256(payee)))).transfer(msg.value);
        address quoter = address(bytes20(signedQuote[4:24]));
        emit RequestForExecution(
            quoter, msg.value, dstChain, dstAddr, refundAddr, signedQuote, requestBytes, relayInstructions
        );
    }

    /// A quote begins with prefix (4 bytes), quoter (20), payee (32), source (2), destination (2) and expiry (8).
    function check(bytes calldata signedQuote, uint16 dstChain) private view {
        uint16 from = uint16(bytes2(signedQuote[56:58]));
        uint16 to = uint16(bytes2(signedQuote[58:60]));
        uint64 expiry = uint64(bytes8(signedQuote[60:68]));
        require(from == ourChain, QuoteSrcChainMismatch(from, ourChain));
        require(to == dstChain, QuoteDstChainMismatch(to, dstChain));
        require(expiry > block.timestamp, QuoteExpired(expiry));
    }
}
