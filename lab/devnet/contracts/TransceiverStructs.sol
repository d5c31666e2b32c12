// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// The library that the published bytecode of NttManager and WormholeTransceiver 2.0.0 links. The bytecode's package
/// lacks it. Names of library, structs and functions decide the selectors in the bytecode, which the comments show.
/// Integers are big-endian.
library TransceiverStructs {
    /// 0x56d2569d
    error IncorrectPrefix(bytes4 prefix);
    /// 0xab8b67c6
    error LengthMismatch(uint256 length, uint256 expected);
    /// 0xa3419691
    error PayloadTooLong(uint256 size);
    /// 0x0555a4b9
    error UnorderedInstructions(uint256 lastIndex, uint256 index);
    /// 0x689f5016
    error InvalidInstructionIndex(uint256 index, uint256 transceivers);

    struct NttManagerMessage {
        bytes32 id;
        bytes32 sender;
        bytes payload;
    }

    /// `amount`: the number in the upper 64 of 72 bits, its decimals in the lower 8.
    struct NativeTokenTransfer {
        uint72 amount;
        bytes32 sourceToken;
        bytes32 to;
        uint16 toChain;
        bytes additionalPayload;
    }

    struct TransceiverMessage {
        bytes32 sourceNttManagerAddress;
        bytes32 recipientNttManagerAddress;
        bytes nttManagerPayload;
        bytes transceiverPayload;
    }

    struct TransceiverInstruction {
        uint8 index;
        bytes payload;
    }

    struct TransceiverInit {
        bytes4 transceiverIdentifier;
        bytes32 nttManagerAddress;
        uint8 nttManagerMode;
        bytes32 tokenAddress;
        uint8 tokenDecimals;
    }

    struct TransceiverRegistration {
        bytes4 transceiverIdentifier;
        uint16 transceiverChainId;
        bytes32 transceiverAddress;
    }

    bytes4 private constant transferPrefix = 0x994e5454;

    /// 0xb3f07bbd
    function nttManagerMessageDigest(uint16 sourceChainId, NttManagerMessage memory m) public pure returns (bytes32) {
        return keccak256(bytes.concat(bytes2(sourceChainId), encodeNttManagerMessage(m)));
    }

    /// 0x8b4979b8
    function encodeNttManagerMessage(NttManagerMessage memory m) public pure returns (bytes memory) {
        return bytes.concat(m.id, m.sender, withLength(m.payload));
    }

    /// 0x2b9f4796. Omits an empty additional payload and its length.
    function encodeNativeTokenTransfer(NativeTokenTransfer memory m) public pure returns (bytes memory) {
        bytes memory more = m.additionalPayload.length == 0 ? bytes("") : withLength(m.additionalPayload);
        bytes9 amount = bytes9(m.amount);
        bytes1 decimals = bytes1(uint8(m.amount));
        return bytes.concat(transferPrefix, decimals, bytes8(amount), m.sourceToken, m.to, bytes2(m.toChain), more);
    }

    /// 0xa733bdaa
    function parseNativeTokenTransfer(bytes calldata encoded) public pure returns (NativeTokenTransfer memory m) {
        demandPrefix(encoded, transferPrefix);
        demandAtLeast(encoded, 79);
        m.amount = (uint72(uint64(bytes8(encoded[5:13]))) << 8) | uint8(encoded[4]);
        m.sourceToken = bytes32(encoded[13:45]);
        m.to = bytes32(encoded[45:77]);
        m.toChain = uint16(bytes2(encoded[77:79]));
        uint256 end = 79;
        if (encoded.length >= 81) (m.additionalPayload, end) = sized(encoded, 79);
        demandEnd(encoded, end);
    }

    /// 0x1185b23c
    function buildAndEncodeTransceiverMessage(
        bytes4 prefix,
        bytes32 sourceNttManagerAddress,
        bytes32 recipientNttManagerAddress,
        bytes memory nttManagerMessage,
        bytes memory transceiverPayload
    ) public pure returns (TransceiverMessage memory m, bytes memory encoded) {
        m = TransceiverMessage(sourceNttManagerAddress, recipientNttManagerAddress, nttManagerMessage, transceiverPayload);
        encoded = bytes.concat(
            prefix,
            sourceNttManagerAddress,
            recipientNttManagerAddress,
            withLength(nttManagerMessage),
            withLength(transceiverPayload)
        );
    }

    /// 0x08a700d6
    function parseTransceiverAndNttManagerMessage(bytes4 expectedPrefix, bytes calldata payload)
        public
        pure
        returns (TransceiverMessage memory outer, NttManagerMessage memory inner)
    {
        demandPrefix(payload, expectedPrefix);
        demandAtLeast(payload, 70);
        outer.sourceNttManagerAddress = bytes32(payload[4:36]);
        outer.recipientNttManagerAddress = bytes32(payload[36:68]);
        bytes calldata message;
        uint256 end;
        (message, end) = sized(payload, 68);
        outer.nttManagerPayload = message;
        (outer.transceiverPayload, end) = sized(payload, end);
        demandEnd(payload, end);
        demandAtLeast(message, 66);
        inner.id = bytes32(message[:32]);
        inner.sender = bytes32(message[32:64]);
        (inner.payload, end) = sized(message, 64);
        demandEnd(message, end);
    }

    /// 0xb620e872. Encoding: count u8, then per instruction index u8, length u8 and bytes. Returns one entry per
    /// transceiver.
    function parseTransceiverInstructions(bytes calldata encoded, uint256 numRegisteredTransceivers)
        public
        pure
        returns (TransceiverInstruction[] memory instructions)
    {
        instructions = new TransceiverInstruction[](numRegisteredTransceivers);
        demandAtLeast(encoded, 1);
        uint256 at = 1;
        uint256 last = 0;
        for (uint256 n = 0; n < uint8(encoded[0]); n++) {
            demandAtLeast(encoded, at + 2);
            uint8 index = uint8(encoded[at]);
            uint256 end = at + 2 + uint8(encoded[at + 1]);
            demandAtLeast(encoded, end);
            if (n > 0 && index <= last) revert UnorderedInstructions(last, index);
            if (index >= numRegisteredTransceivers) revert InvalidInstructionIndex(index, numRegisteredTransceivers);
            instructions[index] = TransceiverInstruction(index, encoded[at + 2:end]);
            (last, at) = (index, end);
        }
        demandEnd(encoded, at);
    }

    /// 0x054a7d84
    function encodeTransceiverInit(TransceiverInit memory m) public pure returns (bytes memory) {
        return abi.encodePacked(m.transceiverIdentifier, m.nttManagerAddress, m.nttManagerMode, m.tokenAddress, m.tokenDecimals);
    }

    /// 0xeeca1f60
    function encodeTransceiverRegistration(TransceiverRegistration memory m) public pure returns (bytes memory) {
        return abi.encodePacked(m.transceiverIdentifier, m.transceiverChainId, m.transceiverAddress);
    }

    function withLength(bytes memory part) private pure returns (bytes memory) {
        if (part.length > type(uint16).max) revert PayloadTooLong(part.length);
        return bytes.concat(bytes2(uint16(part.length)), part);
    }

    /// Reads a length of 2 bytes and the bytes after it. Returns these bytes and their end.
    function sized(bytes calldata whole, uint256 at) private pure returns (bytes calldata part, uint256 end) {
        demandAtLeast(whole, at + 2);
        end = at + 2 + uint16(bytes2(whole[at:at + 2]));
        demandAtLeast(whole, end);
        part = whole[at + 2:end];
    }

    function demandPrefix(bytes calldata encoded, bytes4 expected) private pure {
        demandAtLeast(encoded, 4);
        if (bytes4(encoded[:4]) != expected) revert IncorrectPrefix(bytes4(encoded[:4]));
    }

    function demandAtLeast(bytes calldata encoded, uint256 length) private pure {
        if (encoded.length < length) revert LengthMismatch(encoded.length, length);
    }

    function demandEnd(bytes calldata encoded, uint256 end) private pure {
        if (encoded.length != end) revert LengthMismatch(encoded.length, end);
    }
}
